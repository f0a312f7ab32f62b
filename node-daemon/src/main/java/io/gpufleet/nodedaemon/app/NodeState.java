package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferConstraints;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevices;
import io.gpufleet.nodedaemon.model.allocation.PlannedDevice;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.nodedaemon.model.fault.rules.PollHistory;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.holders.UnallocatedProcesses;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of the node, written by one thread. Each input is applied, then the device lists are published to the kubelet, and
 * only then the facts: a delay of the kubelet's lists delays pods.
 */
final class NodeState {
    private static final Logger LOG = LoggerFactory.getLogger(NodeState.class);

    /** Time after a boot in which NVLinks may still be down. */
    private static final Duration BOOT_GRACE = Duration.ofMinutes(5);

    private final HostInfo host;
    private final NodeOutputs outputs;
    private final NodeTimers timers;
    private final boolean obeyVerdicts;
    private final DeferredLog log;
    private final FaultTracker faults;
    private final long knownSinceEpoch;
    private DeviceInventory devices;
    private PluginSettings settings;
    private SettingsSelector selector;
    private Overlay overlay;
    private Map<String, String> missingNodes = Map.of();
    private CompanionStatus companions = CompanionStatus.NONE;
    private Holdings holdings = Holdings.UNKNOWN;
    private UnallocatedProcesses unallocated = UnallocatedProcesses.NONE;
    private OfferedDevices offers = OfferedDevices.NONE;
    private List<GpuSample> samples = List.of();
    private long sampledNanos;
    private Map<FaultKey, XidSubcode> publishedFaults = Map.of();
    private List<String> warnings = List.of();
    private NodeFact.Announced announced;
    private long listVersion;
    private boolean verdictsIgnored;
    private boolean optionsChanged;
    private boolean scanned;
    private boolean announcedOnce;

    NodeState(HostInfo host, FaultPolicy policy, CentralVerdictSettings verdicts, NodeOutputs outputs, Moment now) {
        this(host, policy, verdicts, outputs, now, new DeferredLog());
    }

    NodeState(
            HostInfo host,
            FaultPolicy policy,
            CentralVerdictSettings verdicts,
            NodeOutputs outputs,
            Moment now,
            DeferredLog log) {
        this.log = log;
        this.host = host;
        this.outputs = outputs;
        this.obeyVerdicts = verdicts.obey();
        this.overlay = verdicts.overlay();
        this.settings = outputs.allocations().allocator().settings();
        this.selector = SettingsSelector.fixed(settings, "start");
        this.timers = new NodeTimers(now.nanos(), host.bootId());
        StateStore.StoredState remembered = outputs.store().load();
        this.knownSinceEpoch = remembered.sinceEpoch();
        this.devices = DeviceInventory.restored(remembered.gpus(), now);
        this.faults = new FaultTracker(
                OpenFaults.restored(policy.with(settings.xids()), remembered.faults(), now),
                PollHistory.empty(now.nanos() + BOOT_GRACE.minus(host.uptime()).toNanos()),
                outputs.counters(),
                log,
                remembered.learned().beginning(now.wall()));
        this.announced = announcement(NodeFact.Reason.START);
        if (!remembered.bootId().isEmpty() && !remembered.bootId().equals(host.bootId())) {
            cleared(faults.afterReboot(host.bootId()), now);
        }
    }

    NodeTimers timers() {
        return timers;
    }

    OpenFaults health() {
        return faults.health();
    }

    OfferedDevices offers() {
        return offers;
    }

    NodeSnapshot snapshot() {
        return new NodeSnapshot(
                devices,
                samples,
                sampledNanos,
                holdings,
                unallocated.unallocated(),
                offers,
                List.copyOf(faults.health().open()));
    }

    DeviceScan lastScan() {
        return devices.lastScan();
    }

    boolean scanned() {
        return scanned;
    }

    void handle(NodeLoopInput input, Moment now) {
        switch (input) {
            case NodeLoopInput.DevicesScanned(DeviceScan scan) -> scanned(scan, now);
            case NodeLoopInput.DeviceEventReceived(var event) ->
                publish(faults.deviceEvent(event, devices, holdings, now), now);
            case NodeLoopInput.KernelFaultLogged(var report) ->
                publish(faults.kernelLogFault(report, scanned, devices, holdings, now), now);
            case NodeLoopInput.DevicesPolled polled -> polled(polled, now);
            case NodeLoopInput.VerdictsIgnored(boolean ignored) -> {
                verdictsIgnored = ignored;
                publish(List.of(), now);
            }
            case NodeLoopInput.OverlayChanged(Overlay read) -> {
                overlay = read;
                publish(List.of(), now);
            }
            case NodeLoopInput.SettingsChanged(SettingsSelector next) -> {
                selector = next;
                applySettings();
                publish(List.of(), now);
            }
            case NodeLoopInput.HostDeviceNodesChanged(HostDeviceNodes nodes) ->
                outputs.allocations().allocator(new AllocationTableFactory(settings, nodes));
            case NodeLoopInput.DeviceNodesMissing(Map<String, String> reasons) -> {
                missingNodes = reasons;
                publish(List.of(), now);
            }
            case NodeLoopInput.CompanionStatusChanged(CompanionStatus status) -> {
                companions = status;
                publish(List.of(), now);
            }
            case NodeLoopInput.GpusForgotten(Set<String> names) -> {
                publish(faults.forget(names, devices, holdings, now), now);
                save();
            }
            case NodeLoopInput.HoldingsListed(Holdings seen) -> holdingsListed(seen, now);
            case NodeLoopInput.HoldingsUnknown unknown -> {
                LOG.atDebug().addKeyValue("reason", unknown.reason()).log("holders unknown");
                timers.holders().failed(unknown.rateLimited(), now.nanos());
            }
            case NodeLoopInput.CheckpointChanged _ -> timers.holders().scheduleNow(now.nanos());
            case NodeLoopInput.DevicesAllocated(var allocations) -> {
                timers.holders().allocated(now.nanos());
                List<String> strategies = settings.allocate().strategyNames();
                allocations.forEach(one -> outputs.facts()
                        .publish(
                                new NodeFact.Allocated(one.resource(), one.deviceIds(), strategies, one.micros()),
                                now));
            }
            case NodeLoopInput.BacklogSent(boolean lost) -> republish(lost, now);
            case NodeLoopInput.Barrier(Runnable reached) -> reached.run();
            case NodeLoopInput.Tick _ -> {}
        }
        runDue(now);
        if (scanned && faults.takeNeedsSave()) {
            save();
        }
        log.write();
    }

    private void scanned(DeviceScan scan, Moment now) {
        if (scan instanceof DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason)
                && problem != DeviceScan.DriverProblem.HELD
                && (!scanned || !scan.equals(devices.lastScan()))) {
            log.add(() -> LOG.atWarn()
                    .addKeyValue("state", problem)
                    .addKeyValue("reason", reason)
                    .log("GPU driver does not respond, retrying"));
        }
        devices = devices.after(scan, now);
        applySettings();
        List<NodeFact> seen = faults.scanned(scan, devices, holdings, now);
        boolean first = !scanned;
        scanned = true;
        publish(seen, now);
        if (first) {
            announce(NodeFact.Reason.START, now);
            publishOpenFaults(now);
            save();
        }
    }

    /** Selects the settings by the known GPUs; lost ones count, or a loss would rename the others' resources. */
    private void applySettings() {
        SettingsSelector.SelectedSettings chosen = selector.select(devices.gpus());
        if (chosen.settings().equals(settings)) {
            return;
        }
        log.add(() -> LOG.atInfo().addKeyValue("origin", chosen.origin()).log("settings applied"));
        optionsChanged |=
                chosen.settings().allocate().preStart() != settings.allocate().preStart();
        settings = chosen.settings();
        outputs.allocations()
                .allocator(new AllocationTableFactory(
                        settings, outputs.allocations().allocator().host()));
        faults.applyOverrides(settings.xids());
    }

    private void polled(NodeLoopInput.DevicesPolled polled, Moment now) {
        samples = polled.samples();
        sampledNanos = now.nanos();
        publish(faults.polled(polled.samples(), devices, holdings, now), now);
        UnallocatedProcesses before = unallocated;
        unallocated = before.polled(samples, holdings, devices.deviceUuids(""), now);
        if (unallocated.differsFrom(before)) {
            publishHeld(now);
        }
        if (polled.publish()) {
            outputs.facts().publish(new NodeFact.Sampled(polled.samples(), devices.memoryBytes()), now);
        }
    }

    private void holdingsListed(Holdings listed, Moment now) {
        timers.holders().answered(now.nanos());
        Holdings seen = listed.withClaimsResolved(devices.gpus());
        boolean changed = !seen.equals(holdings);
        holdings = seen;
        if (changed) {
            publishHeld(now);
            publish(List.of(), now);
        }
    }

    private void publishHeld(Moment now) {
        outputs.facts()
                .publish(
                        new NodeFact.Held(
                                holdings,
                                unallocated.unallocated(),
                                List.copyOf(offers.listed().values())),
                        now);
        timers.heldSent(now.nanos());
    }

    /** Publishes the present state after a backlog, whose content is old by then. */
    private void republish(boolean lost, Moment now) {
        publishOpenFaults(now);
        if (lost) {
            announce(NodeFact.Reason.AFTER_LOSS, now);
            publishHeld(now);
        }
    }

    /** Publishes the resulting device lists to the kubelet, then the facts. */
    private void publish(List<NodeFact> seen, Moment now) {
        if (!scanned) {
            seen.forEach(fact -> outputs.facts().publish(fact, now));
            return;
        }
        OfferedDevices before = offers;
        Overlay inForce = obeyVerdicts && !verdictsIgnored ? overlay.inForce(host.bootId()) : Overlay.TRUST;
        List<PlannedDevice> plan = plan().devices();
        var constraints = new OfferConstraints(
                inForce,
                holdings.heldIds(),
                mpsProblems(plan),
                settings.allocate().passesDeviceNodes() ? missingNodes : Map.of());
        offers = before.next(plan, devices.lastScan(), faults.health(), constraints, now);
        if (!offers.listed().equals(before.listed()) || listVersion == 0 || optionsChanged) {
            optionsChanged = false;
            listVersion++;
            outputs.publish(offers.lists(listVersion), listVersion);
        }
        seen.forEach(fact -> outputs.facts().publish(fact, now));
        List<OfferedDevice> changed = offers.changedSince(before);
        for (OfferedDevice offer : changed) {
            outputs.counters().offerChanged(offer.healthy());
            outputs.facts().publish(new NodeFact.Offered(offer), now);
        }
        if (!faults.openSubcodes().equals(publishedFaults) || !changed.isEmpty()) {
            publishOpenFaults(now);
        }
        if (!seen.isEmpty()) {
            save();
        }
        if (announcedOnce && !announcement(NodeFact.Reason.CHANGED).sameAs(announced)) {
            announce(NodeFact.Reason.CHANGED, now);
            save();
        }
    }

    private Map<String, String> mpsProblems(List<PlannedDevice> plan) {
        return settings.sharing().mode() != SharingSettings.SharingMode.MPS
                ? Map.of()
                : companions.mpsProblems(plan.stream()
                        .filter(device -> device.replicas() > 1)
                        .map(PlannedDevice::resource)
                        .collect(Collectors.toSet()));
    }

    private ResourcePlan plan() {
        var plan = ResourcePlan.of(devices.gpus(), settings);
        if (!plan.warnings().equals(warnings)) {
            warnings = plan.warnings();
            warnings.forEach(warning ->
                    log.add(() -> LOG.atWarn().addKeyValue("warning", warning).log("some devices cannot be offered")));
        }
        return plan;
    }

    private void runDue(Moment now) {
        if (!scanned) {
            return;
        }
        cleared(faults.clearDue(now), now);
        if (offers.unhealthySince().size() > 0) {
            publish(List.of(), now);
        }
        if (timers.faultsOpenDue(now.nanos()) && !faults.health().open().isEmpty()) {
            publishOpenFaults(now);
        }
        if (timers.announceDue(now.nanos())) {
            announce(NodeFact.Reason.PERIODIC, now);
        }
        if (timers.heldDue(now.nanos())) {
            publishHeld(now);
        }
    }

    private void cleared(List<NodeFact> facts, Moment now) {
        if (!facts.isEmpty()) {
            publish(facts, now);
            save();
        }
    }

    private void publishOpenFaults(Moment now) {
        publishedFaults = faults.openSubcodes();
        var open = List.copyOf(faults.health().open());
        outputs.facts().publish(new NodeFact.FaultsOpen(open, offers.perGpu(), knownSinceEpoch), now);
        timers.faultsOpenSent(now.nanos());
    }

    private NodeFact.Announced announcement(NodeFact.Reason reason) {
        return new NodeFact.Announced(
                reason,
                host,
                devices.lastScan(),
                devices.gpus(),
                offers.listed(),
                settings,
                companions,
                faults.learned().since());
    }

    private void announce(NodeFact.Reason reason, Moment now) {
        announced = announcement(reason);
        announcedOnce = true;
        outputs.facts().publish(announced, now);
        timers.announced(now.nanos());
    }

    private void save() {
        outputs.store()
                .save(new StateStore.StoredState(
                        host.bootId(),
                        List.copyOf(faults.health().open()),
                        devices.gpus().stream().map(KnownGpu::gpu).toList(),
                        faults.learned(),
                        knownSinceEpoch));
    }
}
