package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.HoldRequest;
import io.gpufleet.nodedaemon.model.LetGo;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the GPUs go while somebody asks for them. In this order: the kubelet is told that no device is healthy, then
 * everything is closed, then the asker is told. All calls come from the thread that looks at the devices.
 */
final class HoldKeeper {
    private static final Logger LOG = LoggerFactory.getLogger(HoldKeeper.class);
    private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

    private final HoldDoor door;
    private final DeviceSource source;
    private final Consumer<Input> inbox;
    private final Runnable wake;
    private LetGo state = new LetGo.Wanted();
    private Closing closing = new Closing.Done();

    /** How far the letting go has come. */
    private sealed interface Closing {
        /** The kubelet is being told; {@code told} is written by the loop's thread. */
        final class Telling implements Closing {
            private volatile boolean told;
        }

        /** All is to be closed, at the latest then. */
        record Due(long atNanos) implements Closing {}

        /** Nothing is left to do. */
        record Done() implements Closing {}
    }

    /** Nothing is let go yet; {@code wake} asks for another turn. */
    HoldKeeper(HoldDoor door, DeviceSource source, Consumer<Input> inbox, Runnable wake) {
        this.door = door;
        this.source = source;
        this.inbox = inbox;
        this.wake = wake;
        door.takenBack();
        door.onChange(wake);
    }

    /** Takes the next step; whether the devices are let go of, so that nobody may look at them. */
    boolean turn(Moment now) {
        LetGo before = state;
        state = door.asked().map(request -> before.asked(request, now)).orElseGet(before::notAsked);
        if (!state.equals(before)) {
            changed(before, now);
        }
        if (state instanceof LetGo.Held(HoldRequest request, long _)) {
            close(request, now);
            return true;
        }
        return false;
    }

    private void changed(LetGo before, Moment now) {
        switch (state) {
            case LetGo.Held(HoldRequest request, long _) -> begin(request);
            case LetGo.Overdue(HoldRequest request) ->
                LOG.atWarn()
                        .addKeyValue("reason", request.reason())
                        .addKeyValue("deadline", request.deadline())
                        .log("the deadline of the hold file has passed, it counts no more; remove it");
            case LetGo.Wanted _ -> {}
        }
        if (before instanceof LetGo.Held && !(state instanceof LetGo.Held)) {
            door.takenBack();
            closing = new Closing.Done();
            LOG.atInfo().log("the GPUs are taken back");
        }
    }

    private void begin(HoldRequest request) {
        LOG.atInfo()
                .addKeyValue("reason", request.reason())
                .addKeyValue("deadline", request.deadline())
                .log("the GPUs are let go");
        if (!request.complaint().isEmpty()) {
            LOG.atWarn().addKeyValue("complaint", request.complaint()).log("the hold file is not understood in full");
        }
        var telling = new Closing.Telling();
        closing = telling;
        inbox.accept(new Input.Looked(new Look.Blind(
                Look.DriverTrouble.HELD, "let go until " + request.deadline() + ": " + request.reason())));
        inbox.accept(new Input.Fence(() -> {
            telling.told = true;
            wake.run();
        }));
    }

    private void close(HoldRequest request, Moment now) {
        boolean due = switch (closing) {
            case Closing.Telling telling -> telling.told;
            case Closing.Due(long at) -> at - now.nanos() <= 0;
            case Closing.Done _ -> false;
        };
        if (due) {
            source.release();
            closing = door.released(request) ? new Closing.Done() : new Closing.Due(now.nanos() + RETRY_NANOS);
        }
    }

    /** When the next turn is due at the latest, by the monotonic clock. */
    long dueNanos(long horizon) {
        long end = state.endNanos().orElse(horizon);
        long next = end - horizon < 0 ? end : horizon;
        return closing instanceof Closing.Due(long at) && at - next < 0 ? at : next;
    }
}
