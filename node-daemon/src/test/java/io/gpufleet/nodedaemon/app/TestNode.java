package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A node state whose driver, kernel log, kubelet and clock a test controls, with the policy of the XID catalogue. */
final class TestNode {
    static final Duration DWELL = Duration.ofMinutes(5);
    /** Epoch of the daemon that begins its state. */
    static final long FIRST_EPOCH = 1_000;

    private final List<NodeFact> facts = new ArrayList<>();
    private final Map<String, DeviceList> shown = new TreeMap<>();
    private final InMemoryStateStore store = new InMemoryStateStore();
    private PluginSettings settings = PluginSettings.DEFAULT;
    private final Set<String> everHealthy = new HashSet<>();
    private int shownLists;
    private double now;
    private NodeState state;

    private static final class InMemoryStateStore implements StateStore {
        private StoredState kept = StoredState.empty(FIRST_EPOCH);

        @Override
        public StoredState load() {
            return kept;
        }

        @Override
        public void save(StoredState state) {
            kept = state;
        }
    }

    TestNode(DeviceScan first) {
        state = start("boot-1", Duration.ofDays(1));
        scans(first);
    }

    TestNode(DeviceScan first, PluginSettings settings, Duration uptime) {
        this.settings = settings;
        state = start("boot-1", uptime);
        scans(first);
    }

    private NodeState start(String bootId, Duration uptime) {
        var handler = new AllocationHandler(
                new AllocationTableFactory(settings, HostDeviceNodes.of(List.of())),
                () -> second(now),
                new DaemonCounters(),
                _ -> {});
        var outputs = new NodeOutputs((fact, _) -> facts.add(fact), store, handler, this::show, new DaemonCounters());
        return new NodeState(
                new HostInfo("0.1.0", "simulated", "6.1", "", bootId, uptime),
                new FaultPolicy(XidPolicy.withdrawing(), DWELL, XidOverrides.NONE),
                new CentralVerdictSettings(Overlay.TRUST, true),
                outputs,
                second(now));
    }

    private void show(Map<String, DeviceList> lists) {
        shownLists++;
        shown.putAll(lists);
        everHealthy.addAll(healthy());
    }

    /** Kills and restarts the daemon, in the same boot or in another. */
    TestNode restarts(String bootId, DeviceScan scan) {
        shown.clear();
        state = start(bootId, Duration.ofDays(1));
        return scans(scan);
    }

    TestNode advance(double seconds) {
        now += seconds;
        return handle(new NodeLoopInput.Tick());
    }

    TestNode handle(NodeLoopInput input) {
        state.handle(input, second(now));
        return this;
    }

    TestNode scans(DeviceScan scan) {
        return handle(new NodeLoopInput.DevicesScanned(scan));
    }

    TestNode polls(GpuSampleBuilder... sample) {
        return handle(new NodeLoopInput.DevicesPolled(
                Arrays.stream(sample).map(GpuSampleBuilder::build).toList(), false));
    }

    /** NVML reports an XID; polls decide when its cause is gone. */
    TestNode xid(int gpu, int code) {
        return handle(new NodeLoopInput.DeviceEventReceived(new DeviceEvent.FaultDetected(
                uuid(gpu), "", new FaultCode.Xid(code), FaultOrigin.NVML_EVENT, "XID " + code)));
    }

    /** A source reports that the cause is resolved. */
    TestNode causeResolved(int gpu, int code) {
        return handle(new NodeLoopInput.DeviceEventReceived(
                new DeviceEvent.CauseResolved(uuid(gpu), new FaultCode.Xid(code), "reported by the source")));
    }

    /** The kernel log reports it, with the PCI address as the driver prints it. */
    TestNode kernelLogs(int gpu, FaultCode fault) {
        return handle(new NodeLoopInput.KernelFaultLogged(
                new KernelLogFault("000" + gpu + ":00:00", fault, "printed", false)));
    }

    /** The kernel log reports it with a subcode. */
    TestNode kernelLogs(int gpu, int xid, XidSubcode subcode) {
        return handle(new NodeLoopInput.KernelFaultLogged(new KernelLogFault(
                "000" + gpu + ":00:00", new FaultCode.Xid(xid), subcode, "printed " + subcode.name(), false)));
    }

    TestNode overrideXids(XidOverrides xids) {
        settings = new PluginSettings(
                settings.mig(), settings.sharing(), settings.replicaPolicy(), settings.allocate(), xids);
        return handle(new NodeLoopInput.SettingsChanged(SettingsSelector.fixed(settings, "test")));
    }

    /** Ids in the kubelet's lists, Healthy or not. */
    List<String> listed() {
        return shown.values().stream()
                .flatMap(list -> list.devices().stream())
                .map(OfferedDevice::id)
                .sorted()
                .toList();
    }

    /** Ids that were ever Healthy in the kubelet's lists. */
    Set<String> everHealthy() {
        return everHealthy;
    }

    /** Number of published lists. */
    int shownLists() {
        return shownLists;
    }

    /** Ids that are Healthy in the kubelet's lists, of every resource. */
    List<String> healthy() {
        return shown.values().stream()
                .flatMap(list -> list.devices().stream())
                .filter(OfferedDevice::healthy)
                .map(OfferedDevice::id)
                .sorted()
                .toList();
    }

    List<FaultCode> open() {
        return state.health().open().stream().map(fault -> fault.key().fault()).toList();
    }

    List<OpenFault> faults() {
        return List.copyOf(state.health().open());
    }

    <F extends NodeFact> List<F> published(Class<F> type) {
        return facts.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
