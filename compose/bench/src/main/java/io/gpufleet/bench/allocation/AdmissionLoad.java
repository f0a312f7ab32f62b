package io.gpufleet.bench.allocation;

import io.gpufleet.cli.cluster.WebhookClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Reviews of new pods at an even rate, whether the former ones are answered or not. */
final class AdmissionLoad {
    /**
     * Counters of the reviews by outcome.
     *
     * @param millis from the time at which a review was due to its answer
     * @param refused pods that were refused
     * @param failures reviews that nobody decided, by the reason
     */
    record Answers(List<Double> millis, int refused, Map<String, Integer> failures) {
        int failed() {
            return failures.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    /** Streams of one HTTP/2 connection: an API server lets further reviews wait, the client of the JDK fails them. */
    private static final int STREAMS = 90;

    private static final int WARM_UP_IN_FLIGHT = 4;

    private final Semaphore never = new Semaphore(0);
    private int sent;

    /** As fast as they are answered, a few at a time. */
    void warmUp(WebhookClient webhook, int count) throws InterruptedException {
        var free = new Semaphore(WARM_UP_IN_FLIGHT);
        for (int i = 0; i < count; i++) {
            free.acquire();
            var _ = webhook.review(QuotaClusterObjects.review(sent++)).whenComplete((_, _) -> free.release());
        }
        free.acquire(WARM_UP_IN_FLIGHT);
    }

    Answers atRate(WebhookClient webhook, int perSecond, int count) throws InterruptedException {
        long interval = TimeUnit.SECONDS.toNanos(1) / perSecond;
        List<Double> millis = Collections.synchronizedList(new ArrayList<>());
        var refused = new AtomicInteger();
        Map<String, Integer> failures = new ConcurrentHashMap<>();
        var free = new Semaphore(STREAMS);
        List<CompletableFuture<?>> answers = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long due = begin + i * interval;
            var _ = never.tryAcquire(Math.max(0, due - System.nanoTime()), TimeUnit.NANOSECONDS);
            free.acquire();
            answers.add(webhook.review(QuotaClusterObjects.review(sent++)).handle((admitted, failure) -> {
                free.release();
                millis.add((System.nanoTime() - due) / 1e6);
                if (failure != null) {
                    failures.merge(reason(failure), 1, Integer::sum);
                } else if (!admitted) {
                    refused.incrementAndGet();
                }
                return null;
            }));
        }
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
        return new Answers(List.copyOf(millis), refused.get(), Map.copyOf(failures));
    }

    private static String reason(Throwable failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }
}
