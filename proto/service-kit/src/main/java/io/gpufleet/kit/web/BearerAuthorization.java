package io.gpufleet.kit.web;

import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lets requests pass whose bearer token is authorized; asks beside the event loop. */
public final class BearerAuthorization implements Handler<RoutingContext> {
    private static final String SCHEME = "Bearer ";
    private static final String USER = BearerAuthorization.class.getName() + ".user";

    private final Authorizer authorizer;
    private final RequestWorkers workers;
    private final Function<RoutingContext, Authorizer.AccessRequest> access;

    /** {@code access} maps a request to what its user must be allowed to do. */
    public BearerAuthorization(
            Authorizer authorizer, RequestWorkers workers, Function<RoutingContext, Authorizer.AccessRequest> access) {
        this.authorizer = authorizer;
        this.workers = workers;
        this.access = access;
    }

    /** The token of an {@code Authorization} header; empty where there is none of a bearer. */
    public static String token(@Nullable String header) {
        return header != null && header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                ? header.substring(SCHEME.length()).strip()
                : "";
    }

    /** The user as whom a request passed; empty where nobody was asked. */
    public static String user(RoutingContext context) {
        return context.get(USER, "");
    }

    @Override
    public void handle(RoutingContext context) {
        String token = token(context.request().getHeader("authorization"));
        if (token.isEmpty() && authorizer.tokenRequired()) {
            unauthenticated(context, "send a Kubernetes token: Authorization: Bearer <token>");
            return;
        }
        var request = access.apply(context);
        context.request().pause();
        workers.run(() -> authorizer.authorize(token, request))
                .onSuccess(result -> {
                    context.request().resume();
                    respond(context, result);
                })
                .onFailure(failure -> ProblemDetails.failed(context, failure));
    }

    private static void respond(RoutingContext context, Authorizer.AccessResult result) {
        switch (result) {
            case Authorizer.AccessResult.Allowed(String user) -> {
                context.put(USER, user);
                context.next();
            }
            case Authorizer.AccessResult.Unauthenticated(String reason) -> unauthenticated(context, reason);
            case Authorizer.AccessResult.Forbidden(String user, String denial) ->
                ProblemDetails.respond(context, 403, user + " is " + denial);
            case Authorizer.AccessResult.Unavailable(String reason) ->
                ProblemDetails.respond(context, 503, "the token cannot be reviewed: " + reason);
        }
    }

    /** RFC 9110 asks for the scheme of authentication with a 401. */
    private static void unauthenticated(RoutingContext context, String detail) {
        context.response().putHeader("www-authenticate", "Bearer");
        ProblemDetails.respond(context, 401, detail);
    }
}
