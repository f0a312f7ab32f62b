package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.FleetPartControl;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A part that runs for a fifth of the time, as a consumer that is too slow or a container that is throttled. */
final class SlowPart implements Ongoing {
    private static final long FROZEN_MILLIS = 800;
    private static final long RUNNING_MILLIS = 200;

    private final FleetPartControl parts;
    private final String part;
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;

    private SlowPart(FleetPartControl parts, String part) {
        this.parts = parts;
        this.part = part;
        this.thread = Thread.ofPlatform().daemon().name("slow-" + part).unstarted(this::alternate);
    }

    static SlowPart begin(FleetPartControl parts, String part) {
        var slow = new SlowPart(parts, part);
        slow.thread.start();
        return slow;
    }

    private void alternate() {
        try {
            do {
                parts.freeze(part);
                boolean ended = end.await(FROZEN_MILLIS, TimeUnit.MILLISECONDS);
                parts.thaw(part);
                if (ended) {
                    return;
                }
            } while (!end.await(RUNNING_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
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
        // Also where its thread died between the two signals.
        parts.thaw(part);
    }
}
