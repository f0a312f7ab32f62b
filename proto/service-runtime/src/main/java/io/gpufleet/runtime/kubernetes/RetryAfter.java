package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * How long the API server asked its clients to wait: the header {@code Retry-After} of its answers 429 (priority and fairness
 * queues a service account as a whole) and 503, in seconds. The exceptions of the client do not carry it.
 */
public final class RetryAfter implements Interceptor {
    /** Longer is not believed: a fault would wait for it. */
    public static final Duration MAX = Duration.ofSeconds(60);

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;

    private final LongSupplier nanos;
    private final AtomicLong until;

    /** Nothing was asked yet; {@code nanos} is monotonic. */
    public RetryAfter(LongSupplier nanos) {
        this.nanos = nanos;
        this.until = new AtomicLong(nanos.getAsLong());
    }

    @Override
    public void after(HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
        if (response.code() == TOO_MANY_REQUESTS || response.code() == UNAVAILABLE) {
            String seconds = response.header("Retry-After");
            // A date is allowed as well; no API server sends one.
            if (seconds != null && seconds.matches("\\d{1,9}")) {
                Duration asked = Duration.ofSeconds(Long.parseLong(seconds));
                Duration believed = asked.compareTo(MAX) > 0 ? MAX : asked;
                long end = nanos.getAsLong() + believed.toNanos();
                until.accumulateAndGet(end, (known, next) -> next - known > 0 ? next : known);
            }
        }
    }

    /** Rest of the longest time asked for; zero when it is over. */
    public Duration remaining() {
        return Duration.ofNanos(Math.max(0, until.get() - nanos.getAsLong()));
    }
}
