package io.gpufleet.cli.drill;

import io.gpufleet.cli.cluster.WebhookClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Reviews at an even rate until it ends, whether the former ones are answered or not. */
final class ReviewLoad implements Ongoing {
    static final int PER_SECOND = 500;
    /** Streams of one HTTP/2 connection: an API server lets further reviews wait. */
    private static final int STREAMS = 90;
    /** Part of the rate below which a webhook that held its callers back was asked something else than the drill says. */
    private static final double REACHED = 0.95;

    private final WebhookClient webhook;
    private final Semaphore free = new Semaphore(STREAMS);
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Thread thread = Thread.ofPlatform().daemon().name("reviews").unstarted(this::ask);
    private final long begun = System.nanoTime();
    private long nanos;
    private int asked;
    private volatile String firstFailure = "";

    private ReviewLoad(WebhookClient webhook) {
        this.webhook = webhook;
    }

    static ReviewLoad begin(DrillWebhook webhook) {
        var load = new ReviewLoad(webhook.client());
        load.thread.start();
        return load;
    }

    private void ask() {
        long interval = TimeUnit.SECONDS.toNanos(1) / PER_SECOND;
        long due = System.nanoTime();
        try {
            while (!end.await(Math.max(0, due - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                free.acquire();
                var _ = webhook.review(DrillWebhook.review(++asked)).whenComplete((admitted, failure) -> {
                    free.release();
                    if (failure != null) {
                        fail(String.valueOf(failure.getMessage()));
                    } else if (!admitted) {
                        fail("refused");
                    }
                });
                due += interval;
            }
            free.acquire(STREAMS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void fail(String why) {
        if (unanswered.incrementAndGet() == 1) {
            firstFailure = why;
        }
    }

    @Override
    public void end() {
        nanos = System.nanoTime() - begun;
        end.countDown();
        try {
            thread.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        webhook.close();
    }

    @Override
    public Optional<Outcome> outcome() {
        return Optional.of(outcome(asked, unanswered.get(), firstFailure, Duration.ofNanos(nanos)));
    }

    /** Result of reviews that were asked within a time. */
    static Outcome outcome(int asked, int failed, String firstFailure, Duration within) {
        long rate = asked * TimeUnit.SECONDS.toNanos(1) / Math.max(1, within.toNanos());
        String objection = "";
        if (failed > 0) {
            objection = failed + " of " + asked + " failed, the first: " + firstFailure;
        } else if (rate < REACHED * PER_SECOND) {
            objection = "only " + rate + "/s were asked: " + STREAMS + " of them waited for their answers";
        }
        return new Outcome("each of " + asked + " reviews is admitted, at " + PER_SECOND + "/s", objection);
    }
}
