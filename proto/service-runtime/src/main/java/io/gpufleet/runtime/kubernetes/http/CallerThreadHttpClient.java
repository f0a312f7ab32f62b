package io.gpufleet.runtime.kubernetes.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.StandardHttpClient;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import io.fabric8.kubernetes.client.http.StandardWebSocketBuilder;
import io.fabric8.kubernetes.client.http.WebSocket;
import io.fabric8.kubernetes.client.http.WebSocketResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests with a body on the calling thread where that is a virtual one, which waits for the answer anyway: a fault
 * passes no other thread then, each of which would have to wait for a processor. Everything else is sent by the client of
 * the JDK: watches, lists, and calls of event loops.
 */
final class CallerThreadHttpClient
        extends StandardHttpClient<
                CallerThreadHttpClient, CallerThreadHttpClientFactory, CallerThreadHttpClientFactory.Builder> {
    private final StandardHttpClient<?, ?, ?> jdk;
    private final @Nullable BlockingHttp blocking;

    /** Sends by the blocking client, if any, and by that of the JDK. */
    CallerThreadHttpClient(
            CallerThreadHttpClientFactory.Builder builder,
            HttpClient jdk,
            @Nullable BlockingHttp blocking,
            AtomicBoolean closed) {
        super(builder, closed);
        this.jdk = (StandardHttpClient<?, ?, ?>) jdk;
        this.blocking = blocking;
    }

    /** One with other interceptors that shares the connections. */
    CallerThreadHttpClient derived(CallerThreadHttpClientFactory.Builder settings) {
        return new CallerThreadHttpClient(settings, jdk, blocking, closed);
    }

    @Override
    public CompletableFuture<HttpResponse<AsyncBody>> consumeBytesDirect(
            StandardHttpRequest request, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
        BlockingHttp own = blocking;
        byte[] body = body(request);
        if (own == null || body == null || !Thread.currentThread().isVirtual()) {
            return jdk.consumeBytesDirect(request, consumer);
        }
        try {
            return CompletableFuture.completedFuture(own.send(request, body).withBodyFor(request, consumer));
        } catch (IOException | RuntimeException failed) {
            return CompletableFuture.failedFuture(failed);
        }
    }

    /** Null where it has none, or one that is a stream. */
    private static byte @Nullable [] body(StandardHttpRequest request) {
        return switch (request.body()) {
            case StandardHttpRequest.StringBodyContent text -> text.getContent().getBytes(UTF_8);
            case StandardHttpRequest.ByteArrayBodyContent bytes -> bytes.getContent();
            case null, default -> null;
        };
    }

    @Override
    public CompletableFuture<WebSocketResponse> buildWebSocketDirect(
            StandardWebSocketBuilder settings, WebSocket.Listener listener) {
        return jdk.buildWebSocketDirect(settings, listener);
    }

    @Override
    protected void doClose() {
        if (blocking != null) {
            blocking.close();
        }
        jdk.close();
    }
}
