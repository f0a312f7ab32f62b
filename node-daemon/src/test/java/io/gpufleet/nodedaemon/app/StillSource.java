package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.List;

/** A source without devices; time passes while it is asked. */
final class StillSource implements DeviceSource {
    private final Runnable timePasses;
    Runnable during = () -> {};

    StillSource(Runnable timePasses) {
        this.timePasses = timePasses;
    }

    @Override
    public String name() {
        return "still";
    }

    @Override
    public Look look() {
        return new Look.Seen("", "", List.of(), List.of());
    }

    @Override
    public List<Sign> await(Duration atMost) {
        return List.of();
    }

    @Override
    public List<Vitals> vitals() {
        timePasses.run();
        during.run();
        return List.of();
    }

    @Override
    public void release() {}

    @Override
    public void close() {}
}
