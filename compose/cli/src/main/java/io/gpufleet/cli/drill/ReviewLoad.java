package io.gpufleet.cli.drill;

import io.gpufleet.cli.cluster.WebhookClient;
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

    private final WebhookClient webhook;
    private final Semaphore free = new Semaphore(STREAMS);
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Thread thread = Thread.ofPlatform().daemon().name("reviews").unstarted(this::ask);
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
        String objection =
                unanswered.get() == 0 ? "" : unanswered + " of " + asked + " failed, the first: " + firstFailure;
        return Optional.of(new Outcome("each of " + asked + " reviews is admitted", objection));
    }
}
