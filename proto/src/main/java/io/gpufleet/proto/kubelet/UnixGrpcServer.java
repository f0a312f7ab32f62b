package io.gpufleet.proto.kubelet;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.util.AsciiString;
import io.vertx.grpc.common.GrpcStatus;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves gRPC methods of one request each on Unix sockets, on one event loop. Any {@code :authority} or {@code host} is
 * accepted, or none: older kubelets and the plugin watcher send the path of the socket.
 */
public final class UnixGrpcServer {
    private static final Logger LOG = LoggerFactory.getLogger(UnixGrpcServer.class);

    private final EventLoop loop;
    private final Map<CharSequence, Binding<?>> bindings = new HashMap<>();
    private final ReceiveBudget budget = new ReceiveBudget(UnixSocketGrpc.MAX_MESSAGE_SIZE);

    /** A method with the reader of its requests and its handler. */
    record Binding<R>(String path, RequestReader<R> reader, BiConsumer<R, GrpcServerCall> handler) {
        void handle(byte[] message, GrpcServerCall call) {
            try {
                handler.accept(reader.read(message), call);
            } catch (InvalidProtocolBufferException unreadable) {
                call.refuse(GrpcStatus.INTERNAL, "the request is no valid message: " + unreadable.getMessage());
            } catch (RuntimeException failed) {
                LOG.atError().addKeyValue("method", path).setCause(failed).log("call failed");
                call.refuse(GrpcStatus.INTERNAL, String.valueOf(failed.getMessage()));
            }
        }
    }

    /** A socket that is served; its connections end with it. */
    public interface ServedSocket {
        /** Closes the socket and its connections. */
        CompletionStage<?> close();
    }

    /** Creates a server without methods. */
    public UnixGrpcServer(EventLoop loop) {
        this.loop = loop;
    }

    /** Serves a method; the handler is called on the event loop, and answers or keeps the call. */
    public <Q> void serve(GrpcMethod<Q, ?> method, BiConsumer<Q, GrpcServerCall> handler) {
        bind(method, method.requests()::parseFrom, handler);
    }

    /**
     * Serves a method whose requests are repeated: what equal ones mean is worked out once, and handed to the handler. It must
     * depend on the request alone.
     */
    public <Q, R> void serve(GrpcMethod<Q, ?> method, Function<Q, R> meaning, BiConsumer<R, GrpcServerCall> handler) {
        bind(method, new RememberedRequests<>(method.requests(), meaning), handler);
    }

    private <R> void bind(GrpcMethod<?, ?> method, RequestReader<R> reader, BiConsumer<R, GrpcServerCall> handler) {
        bindings.put(AsciiString.cached(method.path()), new Binding<>(method.path(), reader, handler));
    }

    /** Listens on a socket that must not exist. */
    public CompletionStage<ServedSocket> listen(Path socket) {
        var open = new DefaultChannelGroup(loop, true);
        var result = new CompletableFuture<ServedSocket>();
        ChannelFuture bound = new ServerBootstrap()
                .group(loop)
                .channel(NioServerDomainSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        open.add(channel);
                        GrpcServerConnection.open(bindings, budget, channel);
                    }
                })
                .bind(UnixDomainSocketAddress.of(socket));
        open.add(bound.channel());
        bound.addListener(done -> {
            if (done.isSuccess()) {
                result.complete(() -> close(open));
            } else {
                result.completeExceptionally(done.cause());
            }
        });
        return result;
    }

    private static CompletionStage<?> close(ChannelGroup open) {
        var result = new CompletableFuture<Boolean>();
        open.close().addListener(closed -> result.complete(closed.isSuccess()));
        return result;
    }
}
