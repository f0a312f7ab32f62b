package io.gpufleet.proto.kubelet;

import com.google.protobuf.MessageLite;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/**
 * Makes unary gRPC calls to Unix sockets, on a connection each: a server that was restarted is never called on a connection
 * of the former one. Each call completes, at the latest at its deadline, on the event loop.
 */
public final class UnixGrpcClient {
    /** How long a server may take from making its socket to listening on it. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration REFUSAL_PAUSE = Duration.ofMillis(5);

    private final EventLoop loop;

    /** Creates a client whose calls complete on an event loop. */
    public UnixGrpcClient(EventLoop loop) {
        this.loop = loop;
    }

    /** Calls a method once; fails with a {@link GrpcStatusException} where the server answers with an error. */
    public <Q extends MessageLite, A> CompletionStage<A> call(
            Path socket, GrpcMethod<Q, A> method, Q request, Duration deadline) {
        return call(socket, method, request, deadline, Duration.ZERO);
    }

    /**
     * Calls a method of a server that has just made its socket. The file is there before the server listens: connections that
     * are refused within the first second are made again.
     */
    public <Q extends MessageLite, A> CompletionStage<A> callStarting(
            Path socket, GrpcMethod<Q, A> method, Q request, Duration deadline) {
        return call(socket, method, request, deadline, START_TIMEOUT);
    }

    private <Q extends MessageLite, A> CompletionStage<A> call(
            Path socket, GrpcMethod<Q, A> method, Q request, Duration deadline, Duration refusals) {
        var result = new CompletableFuture<A>();
        ScheduledFuture<?> timer = loop.schedule(
                () -> result.completeExceptionally(new TimeoutException(
                        method.path() + " on " + socket + " got no response in " + deadline.toMillis() + " ms")),
                deadline.toMillis(),
                TimeUnit.MILLISECONDS);
        result.whenComplete((_, _) -> timer.cancel(false));
        long lastRefusal = System.nanoTime() + refusals.toNanos();
        connect(
                socket,
                method,
                result,
                lastRefusal,
                (connection, channel) -> connection.send(channel, request.toByteArray(), deadline));
        return result;
    }

    private <A> void connect(
            Path socket,
            GrpcMethod<?, A> method,
            CompletableFuture<A> result,
            long lastRefusal,
            BiConsumer<GrpcClientConnection<A>, Channel> connected) {
        var connection = new GrpcClientConnection<>(method, result);
        ChannelFuture connecting = new Bootstrap()
                .group(loop)
                .channel(NioDomainSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .handler(connection.handler())
                .connect(UnixDomainSocketAddress.of(socket));
        result.whenComplete((_, _) -> connecting.channel().close());
        connecting.addListener(done -> {
            if (done.isSuccess()) {
                // After the preface, which follows this listener.
                loop.execute(() -> connected.accept(connection, connecting.channel()));
            } else if (done.cause() instanceof ConnectException && System.nanoTime() < lastRefusal) {
                loop.schedule(
                        () -> connect(socket, method, result, lastRefusal, connected),
                        REFUSAL_PAUSE.toMillis(),
                        TimeUnit.MILLISECONDS);
            } else {
                result.completeExceptionally(done.cause());
            }
        });
    }
}
