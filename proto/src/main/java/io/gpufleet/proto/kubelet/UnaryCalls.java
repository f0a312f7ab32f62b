package io.gpufleet.proto.kubelet;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientRequest;
import io.vertx.grpc.common.ServiceMethod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Unary calls to Unix sockets. Each call completes, at the latest at its deadline: Vert.x sends the deadline to the server and
 * leaves it to the server, and it never completes a response whose stream was reset.
 */
public final class UnaryCalls implements AutoCloseable {
    private final Vertx vertx;
    private final Context context;
    private final GrpcClient client;

    /** Creates a client whose futures complete on the context. */
    public UnaryCalls(Vertx vertx, Context context) {
        this.vertx = vertx;
        this.context = context;
        this.client = UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY);
    }

    /** Calls a method once. */
    public <Q, A> Future<A> call(Path socket, ServiceMethod<A, Q> method, Q request, Duration deadline) {
        Promise<A> result = Promise.promise();
        // On the context from the first step: a response that arrives before its handler is attached is lost.
        context.runOnContext(_ -> start(socket, method, request, deadline, result));
        return result.future();
    }

    private <Q, A> void start(
            Path socket, ServiceMethod<A, Q> method, Q request, Duration deadline, Promise<A> result) {
        long timer = vertx.setTimer(
                deadline.toMillis(),
                _ -> result.tryFail(
                        method.methodName() + " on " + socket + " got no response in " + deadline.toMillis() + " ms"));
        result.future().onComplete(_ -> vertx.cancelTimer(timer));
        client.request(SocketAddress.domainSocketAddress(socket.toString()), method)
                .compose(call -> send(call, request, deadline, result))
                .onComplete(result::tryComplete, result::tryFail);
    }

    private static <Q, A> Future<A> send(
            GrpcClientRequest<Q, A> call, Q request, Duration deadline, Promise<A> result) {
        if (result.future().isComplete()) {
            call.cancel();
            return result.future();
        }
        result.future().onFailure(_ -> call.cancel());
        call.timeout(deadline.toMillis(), TimeUnit.MILLISECONDS);
        return call.send(request).compose(response -> {
            response.errorHandler(error -> result.tryFail("the server reset the stream: " + error));
            return response.last();
        });
    }

    @Override
    public void close() {
        client.close();
    }
}
