package io.gpufleet.runtime.kubernetes.http;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.StandardHttpHeaders;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** An answer that was read to its end. */
record HttpAnswer(int code, Map<String, List<String>> headers, byte[] body) {
    /** The answer as the client of Kubernetes has it: the body is handed over once it is asked for. */
    HttpResponse<AsyncBody> withBodyFor(HttpRequest request, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
        return new Response(code, headers, request, new Body(body, consumer));
    }

    private static final class Response extends StandardHttpHeaders implements HttpResponse<AsyncBody> {
        private final int code;
        private final HttpRequest request;
        private final AsyncBody body;

        Response(int code, Map<String, List<String>> headers, HttpRequest request, AsyncBody body) {
            super(headers);
            this.code = code;
            this.request = request;
            this.body = body;
        }

        @Override
        public int code() {
            return code;
        }

        @Override
        public AsyncBody body() {
            return body;
        }

        @Override
        public HttpRequest request() {
            return request;
        }

        @Override
        public Optional<HttpResponse<?>> previousResponse() {
            return Optional.empty();
        }
    }

    /** Asked once for the bytes, and once more for the end. */
    private static final class Body implements AsyncBody {
        private final byte[] bytes;
        private final AsyncBody.Consumer<List<ByteBuffer>> consumer;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private boolean delivered;

        Body(byte[] bytes, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
            this.bytes = bytes;
            this.consumer = consumer;
        }

        @Override
        public void consume() {
            if (delivered || bytes.length == 0) {
                done.complete(null);
                return;
            }
            delivered = true;
            try {
                consumer.consume(List.of(ByteBuffer.wrap(bytes)), this);
            } catch (Exception failed) {
                done.completeExceptionally(failed);
            }
        }

        @Override
        public CompletableFuture<Void> done() {
            return done;
        }

        @Override
        public void cancel() {
            done.cancel(false);
        }
    }
}
