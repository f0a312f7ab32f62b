package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.List;

/** A source without devices whose calls take time. */
public final class EmptyDeviceSource implements DeviceSource {
    private final Runnable timePasses;
    public Runnable during = () -> {};

    public EmptyDeviceSource(Runnable timePasses) {
        this.timePasses = timePasses;
    }

    @Override
    public String name() {
        return "still";
    }

    @Override
    public DeviceScan scan() {
        return new DeviceScan.ScanSucceeded("", "", List.of(), List.of());
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        return List.of();
    }

    @Override
    public List<GpuSample> sample() {
        timePasses.run();
        during.run();
        return List.of();
    }

    @Override
    public void release() {}

    @Override
    public void close() {}
}
