package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * A device source that adds the owner to every process. A process that ended since the driver listed it is left out, because
 * its owner can no longer be read.
 */
public final class ProcessAttributingSource implements DeviceSource {
    private final DeviceSource source;
    private final ProcessOwnerLookup owners;

    /** Looks up the owner of every process that the source lists. */
    public ProcessAttributingSource(DeviceSource source, ProcessOwnerLookup processes) {
        this.source = source;
        this.owners = processes;
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public DeviceScan scan() {
        return source.scan();
    }

    @Override
    public boolean deliverTo(Consumer<DeviceEvent> listener) {
        return source.deliverTo(listener);
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        return source.await(atMost);
    }

    @Override
    public List<GpuSample> sample() {
        return source.sample().stream()
                .map(its -> its.with(its.processes().map(this::withOwners)))
                .toList();
    }

    private List<ComputeProcess> withOwners(List<ComputeProcess> found) {
        return found.stream()
                .flatMap(process -> owners.owner(process.pid()).map(process::withOwner).stream())
                .toList();
    }

    @Override
    public Duration eventWaitInFlight() {
        return source.eventWaitInFlight();
    }

    @Override
    public void release() {
        source.release();
    }

    @Override
    public void close() {
        source.close();
    }
}
