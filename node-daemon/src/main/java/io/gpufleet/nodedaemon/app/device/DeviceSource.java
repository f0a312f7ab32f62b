package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * Source of devices: NVML, a simulation, a recording. All calls block and come from one thread of {@link DeviceWatch}, except
 * {@link #await}, which has its own. No call throws for a failure of hardware; that is a value.
 */
public interface DeviceSource extends AutoCloseable {
    /** Returns the name that is published: {@code nvml} or {@code simulated}. */
    String name();

    /** Scans the devices; opens the driver again when the previous scan failed. */
    DeviceScan scan();

    /** Waits for events, at most that long; returns them in the order in which they were detected. */
    List<DeviceEvent> await(Duration atMost);

    /**
     * Passes events to the listener as they are detected, on any thread, and returns true; a source that returns false is asked
     * by {@link #await}.
     */
    default boolean deliverTo(Consumer<DeviceEvent> listener) {
        return false;
    }

    /** Returns how long the wait for events in progress has taken inside the driver; may be called by any thread. */
    default Duration eventWaitInFlight() {
        return Duration.ZERO;
    }

    /** Samples each GPU of the last scan. */
    List<GpuSample> sample();

    /** Releases the driver: no library handle and no descriptor below /dev/nvidia* stays open. The next scan opens it again. */
    void release();

    @Override
    void close();
}
