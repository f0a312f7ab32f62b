package io.gpufleet.kit.lifecycle;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a process whose parts are not closed in time. */
final class ExitDeadline {
    private static final Logger LOG = LoggerFactory.getLogger(ExitDeadline.class);

    private final Duration time;
    private final Supplier<String> closing;
    private final IntConsumer halt;
    private final AtomicBoolean begun = new AtomicBoolean();

    /**
     * A deadline that has not begun.
     *
     * @param time from its begin until the process ends
     * @param closing the part that is being closed
     * @param halt ends the process with an exit status, without closing anything
     */
    ExitDeadline(Duration time, Supplier<String> closing, IntConsumer halt) {
        this.time = time;
        this.closing = closing;
        this.halt = halt;
    }

    /** Begins; false where it has begun before, whose exit status stays. A process that ends in time takes it along. */
    boolean begin(int status) {
        if (!begun.compareAndSet(false, true)) {
            return false;
        }
        Thread.ofPlatform().daemon().name("exit-deadline").start(() -> end(status));
        return true;
    }

    private void end(int status) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        LOG.atWarn().addKeyValue("part", closing.get()).log("not closed in time, the process ends without");
        halt.accept(status);
    }
}
