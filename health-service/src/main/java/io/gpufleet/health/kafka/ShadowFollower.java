package io.gpufleet.health.kafka;

import io.gpufleet.health.app.ShadowPolicy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds a {@link ShadowPolicy} with what the service is told: that of the last day, then what is appended. Begins anew when one
 * of the policies was replaced. A thread of its own with a consumer of its own: the service cannot tell that it is there.
 */
public final class ShadowFollower implements AutoCloseable {
    /** Four snapshots of every daemon: each node is known with its devices. */
    static final Duration PAST = Duration.ofDays(1);

    private static final Logger LOG = LoggerFactory.getLogger(ShadowFollower.class);
    private static final Duration RETRY = Duration.ofSeconds(2);

    private final HistoryReader reader;
    private final ShadowPolicy shadow;
    private final Clock clock;
    private final BooleanSupplier ready;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    /** Why nothing is read now; empty while something is. Of the thread. */
    private String failure = "";

    private ShadowFollower(HistoryReader reader, ShadowPolicy shadow, Clock clock, BooleanSupplier ready) {
        this.ready = ready;
        this.reader = reader;
        this.shadow = shadow;
        this.clock = clock;
        this.thread = Thread.ofPlatform().name("shadow-policy").daemon().unstarted(this::run);
    }

    /**
     * Starts the thread, which reads until it is closed and begins anew after a failure.
     *
     * @param ready false while the service does not know the fleet, of which the budgets are a part
     */
    public static ShadowFollower start(HistoryReader reader, ShadowPolicy shadow, Clock clock, BooleanSupplier ready) {
        var follower = new ShadowFollower(reader, shadow, clock, ready);
        follower.thread.start();
        return follower;
    }

    private void run() {
        while (isOpen()) {
            if (!ready.getAsBoolean()) {
                pause();
                continue;
            }
            try {
                Instant since = clock.instant().minus(PAST);
                shadow.begin(since);
                reader.follow(since, shadow::signal, shadow::loaded, this::goOn);
            } catch (WakeupException setBack) {
                LOG.atDebug().log("read anew with another client, since our clock was set back");
            } catch (RuntimeException failed) {
                retry(failed);
            }
        }
    }

    private boolean goOn() {
        failure = "";
        shadow.passTime(clock.instant());
        return isOpen() && !shadow.isOutdated();
    }

    private boolean isOpen() {
        return closed.getCount() > 0;
    }

    /** One line for each kind of failure, however often it is tried again. */
    private void retry(RuntimeException failed) {
        String reason = String.valueOf(failed.getMessage());
        if (isOpen() && !reason.equals(failure)) {
            LOG.atWarn().addKeyValue("error", reason).log("the shadow policy is not told anything, retrying");
        }
        failure = reason;
        pause();
    }

    private void pause() {
        try {
            var _ = closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException end) {
            closed.countDown();
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed.countDown();
        thread.join(RETRY);
    }
}
