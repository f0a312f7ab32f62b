package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ApiServerException;
import java.util.function.Consumer;

/**
 * Lists all quotas beside the decider's thread, one list at a time; what an abandoned one finds is not told. For the
 * decider's thread.
 */
final class QuotaListReader {
    /** Receives a list that began at a monotonic time. */
    interface Listener {
        void listed(long startNanos, QuotaClient.QuotaList found);
    }

    private final QuotaClient client;
    private final QuotaExecutors executors;
    private final Listener listener;
    private final Consumer<String> failures;
    private boolean reading;
    private long abandoned;

    QuotaListReader(QuotaClient client, QuotaExecutors executors, Listener listener, Consumer<String> failures) {
        this.client = client;
        this.executors = executors;
        this.listener = listener;
        this.failures = failures;
    }

    boolean isReading() {
        return reading;
    }

    /** Starts a list now. */
    void read(long now) {
        reading = true;
        long since = abandoned;
        executors.api().execute(() -> {
            Runnable result = list(now);
            executors.decider().execute(() -> {
                if (since == abandoned) {
                    reading = false;
                    result.run();
                }
            });
        });
    }

    private Runnable list(long start) {
        try {
            QuotaClient.QuotaList found = client.quotas();
            return () -> listener.listed(start, found);
        } catch (ApiServerException | RuntimeException failed) {
            return () -> failures.accept(String.valueOf(failed.getMessage()));
        }
    }

    /** Drops the list that is under way. */
    void abandon() {
        abandoned++;
        reading = false;
    }
}
