package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.List;

/**
 * Where devices come from: NVML, a simulation, a recording. All calls block and come from one thread, the watch loop's,
 * except {@link #await}, which has a thread of its own. No call throws for what hardware does; that is a value.
 */
public interface DeviceSource extends AutoCloseable {
    /** The name that is announced: {@code nvml} or {@code simulated}. */
    String name();

    /** Enumerates; tries to come (back) to life when it was blind before. */
    Look look();

    /** Waits until there is a sign, at most so long; the signs in the order in which they were noticed. */
    List<Sign> await(Duration atMost);

    /** What each GPU of the last look says of itself now. */
    List<Vitals> vitals();

    /** Lets everything go: no library handle and no descriptor below /dev/nvidia* stays open; a look opens again. */
    void release();

    @Override
    void close();
}
