package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device source that writes the CDI spec of the devices before it returns a scan, on the scanning thread, so that no answer
 * to the kubelet waits for the disk.
 */
public final class CdiPreparingSource implements DeviceSource {
    private static final Logger LOG = LoggerFactory.getLogger(CdiPreparingSource.class);

    private final DeviceSource source;
    private final HostDeviceNodeFinder nodeFinder;
    private final CdiSpecWriter specWriter;
    private final DriverFileFinder driverFiles;
    private final Consumer<NodeLoopInput> inbox;
    private SettingsSelector selector;
    private Map<String, String> missing = Map.of();
    private HostDeviceNodes reported = HostDeviceNodes.NONE;
    private DeviceScan.@Nullable ScanSucceeded scanned;
    private List<Gpu> gpus = List.of();

    /** Wraps a source. */
    public CdiPreparingSource(
            DeviceSource source,
            HostDeviceNodeFinder nodeFinder,
            CdiSpecWriter specWriter,
            DriverFileFinder driverFiles,
            SettingsSelector selector,
            Consumer<NodeLoopInput> inbox) {
        this.source = source;
        this.nodeFinder = nodeFinder;
        this.specWriter = specWriter;
        this.driverFiles = driverFiles;
        this.selector = selector;
        this.inbox = inbox;
    }

    @Override
    public DeviceScan scan() {
        DeviceScan scan = source.scan();
        switch (scan) {
            case DeviceScan.ScanSucceeded now -> scanned(now);
            // Running containers may restart with their devices, so the spec keeps them.
            case DeviceScan.ScanFailed _ -> {}
        }
        return scan;
    }

    /** Prepares for other settings before they are published. */
    public synchronized void prepareFor(SettingsSelector next) {
        selector = next;
        if (scanned != null) {
            prepare(scanned);
        }
    }

    private synchronized void scanned(DeviceScan.ScanSucceeded now) {
        var known = new ArrayList<>(now.gpus());
        for (Gpu before : gpus) {
            boolean answers = known.stream().anyMatch(gpu -> gpu.uuid().equals(before.uuid()));
            if (!answers && now.lost().stream().anyMatch(lost -> isAtAddressOf(before, lost))) {
                known.add(before);
            }
        }
        gpus = known;
        scanned = now;
        prepare(now);
    }

    private static boolean isAtAddressOf(Gpu gpu, DeviceScan.LostGpu lost) {
        return lost.pciBusId().isEmpty()
                ? lost.index() == gpu.index()
                : lost.pciBusId().equalsIgnoreCase(gpu.pciBusId());
    }

    private String driverRoot() {
        return selector.select(gpus.stream()
                        .map(gpu -> new KnownGpu(gpu, new KnownGpu.Presence.Answering()))
                        .toList())
                .settings()
                .allocate()
                .driver()
                .root();
    }

    private void prepare(DeviceScan.ScanSucceeded now) {
        String driverRoot = driverRoot();
        Map<String, String> absent = nodeFinder.ensure(driverRoot, gpus);
        if (!absent.equals(missing)) {
            missing = absent;
            absent.forEach((node, reason) -> LOG.atWarn()
                    .addKeyValue("path", node)
                    .addKeyValue("reason", reason)
                    .log("device node is missing and cannot be made, GPUs that need it are offered Unhealthy"));
            inbox.accept(new NodeLoopInput.DeviceNodesMissing(absent));
        }
        HostDeviceNodes found = nodeFinder
                .find(driverRoot)
                .withDriverFiles(
                        driverRoot.equals("/") && anySettings(CdiPreparingSource::mountsTheDriver)
                                ? driverFiles.find(driverRoot, now.driverVersion())
                                : List.of());
        CdiNames names = anySettings(AllocateSettings::usesCdi)
                ? specWriter.write(new CdiSpecWriter.Devices(gpus, now.driverVersion(), driverRoot, found))
                : CdiNames.NOT_WRITTEN;
        HostDeviceNodes prepared = found.with(names);
        if (!prepared.equals(reported)) {
            reported = prepared;
            inbox.accept(new NodeLoopInput.HostDeviceNodesChanged(prepared));
        }
    }

    private static boolean mountsTheDriver(AllocateSettings settings) {
        return settings.strategies().contains(DeviceListStrategy.HOST_MOUNTS) && !settings.usesCdi();
    }

    /** Whether this is so by any rule of the selector: which rule applies may change with the GPUs. */
    private boolean anySettings(Predicate<AllocateSettings> condition) {
        return Stream.concat(
                        selector.rules().stream().map(SettingsSelector.Rule::selected), Stream.of(selector.fallback()))
                .anyMatch(chosen -> condition.test(chosen.settings().allocate()));
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public boolean deliverTo(Consumer<DeviceEvent> listener) {
        return source.deliverTo(listener);
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        return source.await(atMost);
    }

    /** Also searches for new device nodes, which may appear long after the driver and without an event. */
    @Override
    public List<GpuSample> sample() {
        refreshHostDeviceNodes();
        return source.sample();
    }

    private synchronized void refreshHostDeviceNodes() {
        if (scanned != null
                && !nodeFinder
                        .find(driverRoot())
                        .with(reported.cdi())
                        .withDriverFiles(reported.driver().files())
                        .equals(reported)) {
            prepare(scanned);
        }
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
