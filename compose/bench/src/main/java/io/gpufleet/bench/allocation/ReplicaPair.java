package io.gpufleet.bench.allocation;

import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Two replicas of a service, of which the active one can be killed and started again. */
final class ReplicaPair implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final ProcessLauncher launcher;
    private final List<PlannedProcess> planned;
    private final int mebibytes;
    private final ServiceUnderLoad[] running = new ServiceUnderLoad[2];
    private final Semaphore never = new Semaphore(0);

    ReplicaPair(ProcessLauncher launcher, List<PlannedProcess> planned, int mebibytes) {
        this.launcher = launcher;
        this.planned = planned;
        this.mebibytes = mebibytes;
        start(0);
        start(1);
    }

    private void start(int replica) {
        running[replica] = ServiceUnderLoad.start(launcher, planned.get(replica), false, mebibytes);
    }

    /** Figures of the replica that is active, once one is. */
    ServiceMetrics awaitActive() throws InterruptedException {
        return metrics(running[indexOfActive()]);
    }

    /** Kills the active replica without a warning, and starts it again; returns its name. */
    String killActive() throws InterruptedException {
        int active = indexOfActive();
        running[active].kill();
        start(active);
        return running[active].process().name();
    }

    /** Most resident memory that one of the running processes had, in MiB. */
    double peakResidentMebibytes() {
        return Math.max(running[0].peakResidentMebibytes(), running[1].peakResidentMebibytes());
    }

    /** Time for which collections stopped the active replica since its start, in seconds. */
    double collectionSeconds() throws InterruptedException {
        return running[indexOfActive()].collectionMillis() / 1_000;
    }

    private int indexOfActive() throws InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (System.nanoTime() < deadline) {
            for (int replica = 0; replica < running.length; replica++) {
                if (metrics(running[replica]).value("gpufleet_active") == 1) {
                    return replica;
                }
            }
            var _ = never.tryAcquire(100, TimeUnit.MILLISECONDS);
        }
        throw new IllegalStateException("no replica is active after " + TIMEOUT.toMinutes() + " min");
    }

    /** Nothing while it starts. */
    private static ServiceMetrics metrics(ServiceUnderLoad service) throws InterruptedException {
        try {
            return ServiceMetrics.scrape(service.process());
        } catch (IllegalStateException starting) {
            return new ServiceMetrics(Map.of());
        }
    }

    @Override
    public void close() {
        for (ServiceUnderLoad service : running) {
            service.close();
        }
    }
}
