package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.xid.XidCatalogue;
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

/** Simulated GPUs; a file {@code <gpu index>.xid} in the simulation directory is a fault while it exists. */
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
     * @param node node name, from which UUIDs are derived
     * @param devices value of GPUFLEET_DEVICES, for example {@code simulated:8xH100}
     * @param faults directory of the fault files, created where it is absent; without one no GPU fails
     * @throws io.gpufleet.kit.config.ConfigurationException where the value or the directory is invalid
     */
    public static SimulatedSource open(String node, String devices, Optional<Path> faults, Clock clock) {
        SimulatedDevices parsed = SimulatedDevices.parse(node, devices);
        FaultInput input = faults.<FaultInput>map(directory -> new FileFaultInput(FaultFiles.watch(directory)))
                .orElseGet(() -> new NoFaultInput(new CountDownLatch(1)));
        return new SimulatedSource(parsed, input, clock);
    }

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public DeviceScan scan() {
        return new DeviceScan.ScanSucceeded(DRIVER, CUDA, gpus, List.of());
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        try {
            return faults.await(atMost).stream().flatMap(this::toEvents).toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private Stream<DeviceEvent> toEvents(FaultFiles.FaultChange change) {
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
                        ? new DeviceEvent.FaultDetected(uuid, "", code, FaultOrigin.SIMULATION, message(change.xid()))
                        : new DeviceEvent.CauseResolved(uuid, code, "fault file removed"));
    }

    private static String message(int xid) {
        return "simulated XID " + xid
                + XidCatalogue.standard()
                        .find(xid)
                        .map(entry -> ": " + entry.description())
                        .orElse("");
    }

    @Override
    public List<GpuSample> sample() {
        Instant now = clock.instant();
        return gpus.stream()
                .map(gpu -> SimulatedSamples.of(
                        gpu, devices.boards().get(gpu.index()).model(), now))
                .toList();
    }

    @Override
    public void release() {
        // There is no driver to release.
    }

    @Override
    public void close() {
        faults.close();
    }

    /** Source of faults. */
    private sealed interface FaultInput {
        List<FaultFiles.FaultChange> await(Duration atMost) throws InterruptedException;

        void close();
    }

    private record FileFaultInput(FaultFiles files) implements FaultInput {
        @Override
        public List<FaultFiles.FaultChange> await(Duration atMost) throws InterruptedException {
            return files.await(atMost);
        }

        @Override
        public void close() {
            files.close();
        }
    }

    private record NoFaultInput(CountDownLatch closed) implements FaultInput {
        @Override
        public List<FaultFiles.FaultChange> await(Duration atMost) throws InterruptedException {
            boolean _ = closed.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
            return List.of();
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
