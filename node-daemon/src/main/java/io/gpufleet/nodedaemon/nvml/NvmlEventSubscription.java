package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The event set that is waited for now. An event set is freed only after the last wait for it has returned. */
final class NvmlEventSubscription {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlEventSubscription.class);

    private final NvmlExecutors executors;
    private final NvmlSettings settings;
    private final NvmlEventWaiter.Listener listener;
    private boolean abandoned;
    private @Nullable NvmlEventSet events;
    private volatile @Nullable NvmlEventWaiter waiter;

    NvmlEventSubscription(NvmlExecutors executors, NvmlSettings settings, NvmlEventWaiter.Listener listener) {
        this.executors = executors;
        this.settings = settings;
        this.listener = listener;
    }

    /** Whether there is an event set; one in which no GPU is registered is not waited for. */
    boolean isActive() {
        return events != null;
    }

    /** Waits for this event set from now on; it is registered before the old one ends, so that no event is lost. */
    void switchTo(NvmlEventSet next) {
        stop();
        events = next;
        waiter = next.canReport() ? new NvmlEventWaiter(next, listener, NvmlSettings.EVENT_WAIT_TIMEOUT).start() : null;
    }

    /** Whether a wait never returned, so that a thread is still inside the library. */
    boolean abandoned() {
        return abandoned;
    }

    /** How long the wait in progress has taken, which is a fraction of a second unless the library hangs. */
    Duration waitInFlight() {
        NvmlEventWaiter waiting = waiter;
        return waiting == null ? Duration.ZERO : waiting.waitInFlight();
    }

    void stop() {
        NvmlEventWaiter ending = waiter;
        NvmlEventSet old = events;
        waiter = null;
        events = null;
        if (old == null || (ending != null && !ended(ending))) {
            return;
        }
        try {
            executors.call(NvmlExecutors.DRIVER, "nvmlEventSetFree", () -> {
                old.free();
                return "";
            });
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML event set not freed");
        }
    }

    private boolean ended(NvmlEventWaiter ending) {
        ending.close();
        if (ending.awaitEnd(settings.deadline().plus(NvmlSettings.EVENT_WAIT_TIMEOUT))) {
            return true;
        }
        // Freeing an event set under a wait is undefined, so the thread and the event set stay behind.
        abandoned = true;
        LOG.atWarn().log("wait for NVML events hangs, abandoned");
        return false;
    }
}
