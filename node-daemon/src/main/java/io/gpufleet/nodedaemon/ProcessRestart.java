package io.gpufleet.nodedaemon;

import io.gpufleet.nodedaemon.kafka.EventPublisher;
import io.gpufleet.nodedaemon.state.RestartRateLimit;
import io.gpufleet.nodedaemon.state.StateFile;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exits with status 3, so that the DaemonSet restarts the process; open faults and the overlay are saved before.
 *
 * @param exit ends the process at once
 */
record ProcessRestart(RestartRateLimit rateLimit, StateFile stateFile, EventPublisher publisher, IntConsumer exit)
        implements Consumer<String> {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessRestart.class);
    private static final int EXIT_STATUS = 3;
    private static final Duration STATE_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration DRAIN_TIMEOUT = Duration.ofMillis(50);

    @Override
    public void accept(String reason) {
        if (!rateLimit.tryAcquire(Clock.systemUTC().instant())) {
            LOG.atError().addKeyValue("reason", reason).log("restart did not help, process keeps running");
            return;
        }
        LOG.atError().addKeyValue("reason", reason).log("exiting with status 3 to be restarted");
        try {
            boolean _ = stateFile.awaitWritten(STATE_TIMEOUT);
            publisher.drain(DRAIN_TIMEOUT);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        exit.accept(EXIT_STATUS);
    }
}
