package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.hold.DeviceRelease;
import io.gpufleet.nodedaemon.model.hold.GpuReleaseRequest;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases the GPUs while a hold request exists, in this order: all devices are reported Unhealthy to the kubelet, the driver
 * is closed, the release is confirmed to the requester. All calls come from the scanning thread.
 */
final class DriverHold {
    private static final Logger LOG = LoggerFactory.getLogger(DriverHold.class);
    private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

    private final GpuReleaseRequestSource requests;
    private final DeviceSource source;
    private final Consumer<NodeLoopInput> inbox;
    private final Runnable wake;
    private DeviceRelease state = new DeviceRelease.NotRequested();
    private ReleaseProgress progress = new ReleaseProgress.Done();

    /** Progress of a release. */
    private sealed interface ReleaseProgress {
        /** The devices are being reported Unhealthy; {@code notified} is written by the loop's thread. */
        final class NotifyingKubelet implements ReleaseProgress {
            private volatile boolean notified;
        }

        /** The driver has to be closed and the release confirmed at that time. */
        record Due(long atNanos) implements ReleaseProgress {}

        /** The release is complete, or none is requested. */
        record Done() implements ReleaseProgress {}
    }

    /** Starts without a release; {@code wake} requests another {@link #step}. */
    DriverHold(GpuReleaseRequestSource requests, DeviceSource source, Consumer<NodeLoopInput> inbox, Runnable wake) {
        this.requests = requests;
        this.source = source;
        this.inbox = inbox;
        this.wake = wake;
        requests.withdrawConfirmation();
        requests.onChange(wake);
    }

    /** Takes the next step; returns whether the devices are released, so that they must not be scanned. */
    boolean step(Moment now) {
        DeviceRelease before = state;
        state = requests.request()
                .map(request -> before.requested(request, now))
                .orElseGet(before::requestRemoved);
        if (!state.equals(before)) {
            changed(before, now);
        }
        if (state instanceof DeviceRelease.Released(GpuReleaseRequest request, long _)) {
            releaseWhenDue(request, now);
            return true;
        }
        return false;
    }

    private void changed(DeviceRelease before, Moment now) {
        switch (state) {
            case DeviceRelease.Released(GpuReleaseRequest request, long _) -> startRelease(request);
            case DeviceRelease.Expired(GpuReleaseRequest request) ->
                LOG.atWarn()
                        .addKeyValue("reason", request.reason())
                        .addKeyValue("deadline", request.deadline())
                        .log("deadline of the hold file has passed, file is ignored; remove it");
            case DeviceRelease.NotRequested _ -> {}
        }
        if (before instanceof DeviceRelease.Released && !(state instanceof DeviceRelease.Released)) {
            requests.withdrawConfirmation();
            progress = new ReleaseProgress.Done();
            LOG.atInfo().log("GPUs reacquired");
        }
    }

    private void startRelease(GpuReleaseRequest request) {
        LOG.atInfo()
                .addKeyValue("reason", request.reason())
                .addKeyValue("deadline", request.deadline())
                .log("GPUs released");
        if (!request.warning().isEmpty()) {
            LOG.atWarn().addKeyValue("warning", request.warning()).log("hold file only partly understood");
        }
        var notifying = new ReleaseProgress.NotifyingKubelet();
        progress = notifying;
        inbox.accept(new NodeLoopInput.DevicesScanned(new DeviceScan.ScanFailed(
                DeviceScan.DriverProblem.HELD, "released until " + request.deadline() + ": " + request.reason())));
        inbox.accept(new NodeLoopInput.Barrier(() -> {
            notifying.notified = true;
            wake.run();
        }));
    }

    private void releaseWhenDue(GpuReleaseRequest request, Moment now) {
        boolean due = switch (progress) {
            case ReleaseProgress.NotifyingKubelet notifying -> notifying.notified;
            case ReleaseProgress.Due(long at) -> at - now.nanos() <= 0;
            case ReleaseProgress.Done _ -> false;
        };
        if (due) {
            source.release();
            progress = requests.confirmReleased(request)
                    ? new ReleaseProgress.Done()
                    : new ReleaseProgress.Due(now.nanos() + RETRY_NANOS);
        }
    }

    /** Returns when the next step is due at the latest, by the monotonic clock. */
    long dueNanos(long horizon) {
        long end = state.endNanos().orElse(horizon);
        long next = end - horizon < 0 ? end : horizon;
        return progress instanceof ReleaseProgress.Due(long at) && at - next < 0 ? at : next;
    }
}
