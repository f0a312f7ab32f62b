package io.gpufleet.nodedaemon.nvml;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The event set that is waited for now, and its end: no set is freed under a wait. */
final class EventFollowing {
    private static final Logger LOG = LoggerFactory.getLogger(EventFollowing.class);

    private final NvmlThread thread;
    private final NvmlSettings settings;
    private final EventWaiter.Listener listener;
    private boolean abandoned;
    private @Nullable EventSet events;
    private @Nullable EventWaiter waiter;

    EventFollowing(NvmlThread thread, NvmlSettings settings, EventWaiter.Listener listener) {
        this.thread = thread;
        this.settings = settings;
        this.listener = listener;
    }

    /** Whether anybody waits. */
    boolean follows() {
        return waiter != null;
    }

    /** Waits for this set from now on; it was registered before the old one ends, or events would be lost. */
    void follow(EventSet next) {
        end();
        events = next;
        waiter = new EventWaiter(next, listener, NvmlSettings.WAIT_SLICE, settings.pollInterval()).start();
    }

    /** Whether a wait never returned: somebody is still inside the library. */
    boolean abandoned() {
        return abandoned;
    }

    void end() {
        EventWaiter ending = waiter;
        EventSet old = events;
        waiter = null;
        events = null;
        if (ending == null || old == null) {
            return;
        }
        ending.close();
        Duration patience = settings.deadline().plus(NvmlSettings.WAIT_SLICE);
        if (!ending.ended(patience)) {
            // Freeing a set under a wait is undefined; the thread and the set stay behind.
            abandoned = true;
            LOG.atWarn().log("a wait for NVML events does not return and is abandoned");
            return;
        }
        try {
            thread.call(NvmlThread.DRIVER, "nvmlEventSetFree", () -> {
                old.free();
                return "";
            });
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("an event set was not freed");
        }
    }
}
