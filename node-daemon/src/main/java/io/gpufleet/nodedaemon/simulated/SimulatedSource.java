package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.catalogue.XidCatalogue;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** GPUs that do not exist; a file {@code <gpu index>.xid} in the simulation directory is a fault while it is there. */
public final class SimulatedSource implements DeviceSource {
    private static final Logger LOG = LoggerFactory.getLogger(SimulatedSource.class);
    private static final String DRIVER = "570.124.06";
    private static final String CUDA = "12.8";

    private final SimulatedDevices devices;
    private final List<Gpu> gpus;
    private final FaultInput faults;
    private final Clock clock;

    private SimulatedSource(SimulatedDevices devices, FaultInput faults, Clock clock) {
        this.devices = devices;
        this.gpus = devices.gpus();
        this.faults = faults;
        this.clock = clock;
    }

    /**
     * Opens the devices of a node.
     *
     * @param node node name, from which the UUIDs are made
     * @param devices value of GPUFLEET_DEVICES, for example {@code simulated:8xH100}
     * @param faults directory of the fault files, made where it is absent; without one nothing ever fails
     * @throws io.gpufleet.kit.config.ConfigurationException where the value or the directory is no good
     */
    public static SimulatedSource open(String node, String devices, Optional<Path> faults, Clock clock) {
        SimulatedDevices parsed = SimulatedDevices.parse(node, devices);
        FaultInput input = faults.<FaultInput>map(directory -> new FromFiles(FaultFiles.watch(directory)))
                .orElseGet(() -> new Never(new CountDownLatch(1)));
        return new SimulatedSource(parsed, input, clock);
    }

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public Look look() {
        return new Look.Seen(DRIVER, CUDA, gpus, List.of());
    }

    @Override
    public List<Sign> await(Duration atMost) {
        try {
            return faults.await(atMost).stream().flatMap(this::sign).toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private Stream<Sign> sign(FaultFiles.Change change) {
        if (change.gpuIndex() >= gpus.size()) {
            LOG.atWarn()
                    .addKeyValue("gpu", change.gpuIndex())
                    .addKeyValue("gpus", gpus.size())
                    .log("fault file ignored: this node has no such GPU");
            return Stream.empty();
        }
        String uuid = gpus.get(change.gpuIndex()).uuid();
        FaultCode code = new FaultCode.Xid(change.xid());
        return Stream.of(
                change.begun()
                        ? new Sign.FaultSeen(uuid, "", code, FaultOrigin.SIMULATION, message(change.xid()))
                        : new Sign.CauseGone(uuid, code, "fault file removed"));
    }

    private static String message(int xid) {
        return "simulated XID " + xid
                + XidCatalogue.standard()
                        .find(xid)
                        .map(entry -> ": " + entry.description())
                        .orElse("");
    }

    @Override
    public List<Vitals> vitals() {
        Instant now = clock.instant();
        return gpus.stream()
                .map(gpu -> SimulatedVitals.of(
                        gpu, devices.boards().get(gpu.index()).model(), now))
                .toList();
    }

    @Override
    public void release() {
        // Nothing is held: there is no driver.
    }

    @Override
    public void close() {
        faults.close();
    }

    /** Where faults come from. */
    private sealed interface FaultInput {
        List<FaultFiles.Change> await(Duration atMost) throws InterruptedException;

        void close();
    }

    private record FromFiles(FaultFiles files) implements FaultInput {
        @Override
        public List<FaultFiles.Change> await(Duration atMost) throws InterruptedException {
            return files.await(atMost);
        }

        @Override
        public void close() {
            files.close();
        }
    }

    private record Never(CountDownLatch closed) implements FaultInput {
        @Override
        public List<FaultFiles.Change> await(Duration atMost) throws InterruptedException {
            boolean _ = closed.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
            return List.of();
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
