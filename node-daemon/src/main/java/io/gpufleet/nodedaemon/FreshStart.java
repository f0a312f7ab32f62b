package io.gpufleet.nodedaemon;

import io.gpufleet.nodedaemon.disk.RestartMark;
import io.gpufleet.nodedaemon.disk.StateFile;
import io.gpufleet.nodedaemon.kafka.Bus;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process with status 3, so that the DaemonSet starts it again; open faults and the overlay are on disk then.
 *
 * @param end ends it at once, as SIGTERM does
 */
record FreshStart(RestartMark mark, StateFile store, Bus bus, IntConsumer end) implements Consumer<String> {
    private static final Logger LOG = LoggerFactory.getLogger(FreshStart.class);
    private static final int STATUS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final Duration FAREWELL = Duration.ofMillis(50);

    @Override
    public void accept(String reason) {
        if (!mark.allows(Clock.systemUTC().instant())) {
            LOG.atError().addKeyValue("reason", reason).log("a fresh process did not help, this one stays");
            return;
        }
        LOG.atError().addKeyValue("reason", reason).log("the process ends to be started anew");
        try {
            store.awaitWritten(PATIENCE);
            bus.drain(FAREWELL);
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
        end.accept(STATUS);
    }
}
