package io.gpufleet.proto.kubelet;

import com.google.protobuf.MessageLite;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Makes unary gRPC calls to Unix sockets, on a connection each: a server that was restarted is never called on a connection
 * of the former one. Each call completes, at the latest at its deadline, on the event loop.
 */
public final class UnixGrpcClient {
    private final EventLoop loop;

    /** Creates a client whose calls complete on an event loop. */
    public UnixGrpcClient(EventLoop loop) {
        this.loop = loop;
    }

    /** Calls a method once; fails with a {@link GrpcStatusException} where the server answers with an error. */
    public <Q extends MessageLite, A> CompletionStage<A> call(
            Path socket, GrpcMethod<Q, A> method, Q request, Duration deadline) {
        var result = new CompletableFuture<A>();
        var connection = new GrpcClientConnection<>(method, result);
        ChannelFuture connected = new Bootstrap()
                .group(loop)
                .channel(NioDomainSocketChannel.class)
                .handler(connection.codec())
                .connect(UnixDomainSocketAddress.of(socket));
        connected.addListener(done -> {
            if (done.isSuccess()) {
                // After the preface, which follows this listener.
                loop.execute(() -> connection.send(connected.channel(), request.toByteArray(), deadline));
            } else {
                result.completeExceptionally(done.cause());
            }
        });
        ScheduledFuture<?> timer = loop.schedule(
                () -> result.completeExceptionally(new TimeoutException(
                        method.path() + " on " + socket + " got no response in " + deadline.toMillis() + " ms")),
                deadline.toMillis(),
                TimeUnit.MILLISECONDS);
        result.whenComplete((_, _) -> {
            timer.cancel(false);
            connected.channel().close();
        });
        return result;
    }
}
