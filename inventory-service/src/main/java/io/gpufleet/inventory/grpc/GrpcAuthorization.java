package io.gpufleet.inventory.grpc;

import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import io.gpufleet.kit.web.BearerAuthorization;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.grpc.common.GrpcStatus;

/**
 * Lets calls of the inventory pass to the server whose answers their user may see; health and reflection pass unasked.
 *
 * @param full serves all
 * @param masked serves the inventory without the names of holders
 */
record GrpcAuthorization(
        Authorizer authorizer,
        RequestWorkers workers,
        Handler<HttpServerRequest> full,
        Handler<HttpServerRequest> masked)
        implements Handler<HttpServerRequest> {
    private static final String PATH = "/" + InventoryGrpc.SERVICE_NAME.fullyQualifiedName() + "/";
    private static final AccessRequest READ = new AccessRequest("gpufleet.io", "nodes", "list", "", "");
    private static final AccessRequest ALL_PODS = new AccessRequest("", "pods", "list", "", "");

    @Override
    public void handle(HttpServerRequest call) {
        if (!String.valueOf(call.path()).startsWith(PATH)) {
            full.handle(call);
            return;
        }
        String token = BearerAuthorization.token(call.getHeader("authorization"));
        if (token.isEmpty() && authorizer.tokenRequired()) {
            refuse(call, GrpcStatus.UNAUTHENTICATED, "send a Kubernetes token as metadata: authorization: Bearer ...");
            return;
        }
        call.pause();
        workers.run(() -> decide(token))
                .onSuccess(result -> respond(call, result))
                .onFailure(busy -> refuse(call, GrpcStatus.RESOURCE_EXHAUSTED, String.valueOf(busy.getMessage())));
    }

    /** The result of the read, and whether its user may name every holder. */
    private record Decision(AccessResult read, boolean allPods) {}

    private Decision decide(String token) {
        AccessResult read = authorizer.authorize(token, READ);
        return new Decision(
                read,
                read instanceof AccessResult.Allowed
                        && authorizer.authorize(token, ALL_PODS) instanceof AccessResult.Allowed);
    }

    private void respond(HttpServerRequest call, Decision decision) {
        switch (decision.read()) {
            case AccessResult.Allowed _ -> {
                (decision.allPods() ? full : masked).handle(call);
                call.resume();
            }
            case AccessResult.Unauthenticated(String reason) -> refuse(call, GrpcStatus.UNAUTHENTICATED, reason);
            case AccessResult.Forbidden(String user, String denial) ->
                refuse(call, GrpcStatus.PERMISSION_DENIED, user + " is " + denial);
            case AccessResult.Unavailable(String reason) ->
                refuse(call, GrpcStatus.UNAVAILABLE, "the token cannot be reviewed: " + reason);
        }
    }

    private static void refuse(HttpServerRequest call, GrpcStatus status, String message) {
        call.resume();
        call.response()
                .putHeader("content-type", "application/grpc")
                .putHeader("grpc-status", Integer.toString(status.code))
                .putHeader("grpc-message", message.replaceAll("[^ -~]", " ").replace("%", "%25"))
                .end();
    }
}
