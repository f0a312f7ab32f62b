package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.List;

/**
 * A device source whose processes are told with the pods that they belong to. One that ended since the driver told of it is
 * left out: nobody can say any more whose it was.
 */
public final class AttributedSource implements DeviceSource {
    private final DeviceSource source;
    private final ProcessTable processes;

    /** Asks the table about every process that the source tells of. */
    public AttributedSource(DeviceSource source, ProcessTable processes) {
        this.source = source;
        this.processes = processes;
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public Look look() {
        return source.look();
    }

    @Override
    public List<Sign> await(Duration atMost) {
        return source.await(atMost);
    }

    @Override
    public List<Vitals> vitals() {
        return source.vitals().stream()
                .map(its -> its.with(its.processes().map(this::attributed)))
                .toList();
    }

    private List<ComputeProcess> attributed(List<ComputeProcess> found) {
        return found.stream()
                .flatMap(process -> processes.owner(process.pid()).map(process::of).stream())
                .toList();
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
