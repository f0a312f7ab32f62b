package io.gpufleet.nodedaemon.app;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.LearnedGpus;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCauseState;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.nodedaemon.model.fault.rules.FaultRuleResult;
import io.gpufleet.nodedaemon.model.fault.rules.PollHistory;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Applies observations of the devices to the open faults, and returns the facts to publish. */
final class FaultTracker {
    private static final Logger LOG = LoggerFactory.getLogger(FaultTracker.class);
    private static final FaultKey DRIVER = new FaultKey("", new FaultCode.WithoutCode(FaultKind.DRIVER));
    private static final FaultKey MISSING = new FaultKey("", new FaultCode.WithoutCode(FaultKind.GPU_MISSING));
    private static final FaultCode LOST = new FaultCode.WithoutCode(FaultKind.GPU_LOST);
    private static final FaultCode MEMORY = new FaultCode.WithoutCode(FaultKind.MEMORY_UNREADABLE);
    /** Kernel log faults that wait for the first scan; further ones of a storm are repetitions. */
    private static final int MAX_PENDING = 256;

    private final DaemonCounters counters;
    private final DeferredLog log;
    private final DriverReloadDetector driverReloads = new DriverReloadDetector();
    private final Map<String, Reading<Long>> energy = new HashMap<>();
    private final List<KernelLogFault> pendingKernelFaults = new ArrayList<>();
    private OpenFaults health;
    private LearnedGpus learned;
    private PollHistory polls;
    private boolean needsSave;

    FaultTracker(OpenFaults health, PollHistory polls, DaemonCounters counters, DeferredLog log, LearnedGpus learned) {
        this.learned = learned;
        this.health = health;
        this.polls = polls;
        this.counters = counters;
        this.log = log;
        health.open().forEach(fault -> counters.faultRestored(fault.key()));
    }

    /** Knowledge about the devices at an observation. */
    private record Context(DeviceInventory devices, Holdings holdings, Moment now) {}

    OpenFaults health() {
        return health;
    }

    /** Returns the open faults with their subcodes. */
    Map<FaultKey, XidSubcode> openSubcodes() {
        return health.open().stream()
                .collect(Collectors.toMap(
                        OpenFault::key, fault -> fault.subject().subcode()));
    }

    /** Returns the GPUs that the node had. */
    LearnedGpus learned() {
        return learned;
    }

    /** Returns once whether the faults changed without a fact, which a restart would lose unless the state is saved. */
    boolean takeNeedsSave() {
        boolean worth = needsSave;
        needsSave = false;
        return worth;
    }

    /** Applies a scan: faults of the driver, and of GPUs that do not respond. */
    List<NodeFact> scanned(DeviceScan scan, DeviceInventory devices, Holdings holdings, Moment now) {
        var context = new Context(devices, holdings, now);
        var seen = new ArrayList<NodeFact>();
        var wentNanos = driverReloads.previousDriverLastSeen(scan, now);
        switch (scan) {
            case DeviceScan.ScanSucceeded _ -> {
                health = health.causeResolved(DRIVER, "driver responds", now).driverResponds(now);
                wentNanos.ifPresent(went -> health = health.driverReloaded(respondingUuids(devices), went, now));
                Set<String> uuids =
                        devices.gpus().stream().map(known -> known.gpu().uuid()).collect(Collectors.toSet());
                health = health.retainGpus(uuids, now);
                energy.keySet().retainAll(uuids);
                devices.gpus().forEach(known -> seen.addAll(gpuScanned(known, context)));
                LearnedGpus before = learned;
                learned = before.after(scan);
                needsSave |= !learned.equals(before);
                seen.addAll(missing(learned.missing(scan), context));
            }
            case DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason) -> {
                if (isFault(problem, devices)) {
                    seen.addAll(observeUnlessActive(DRIVER, problem + ": " + reason, context));
                }
            }
        }
        pendingKernelFaults.forEach(report -> seen.addAll(observeKernelLogFault(report, context)));
        pendingKernelFaults.clear();
        return seen;
    }

    private List<NodeFact> gpuScanned(KnownGpu known, Context context) {
        String uuid = known.gpu().uuid();
        return switch (known.presence()) {
            case KnownGpu.Presence.Missing missing ->
                observeUnlessActive(new FaultKey(uuid, LOST), missing.reason(), context);
            case KnownGpu.Presence.Answering _ -> {
                // Before the first poll only the scan shows it, and the first device list must not offer the GPU.
                boolean firstScan = energy.putIfAbsent(uuid, new Reading.Unavailable<>("not polled")) == null;
                yield firstScan
                                && PollHistory.memory(known.gpu().memoryBytes())
                                        instanceof FaultRuleResult.Firing(String message)
                        ? observeUnlessActive(new FaultKey(uuid, MEMORY), message, context)
                        : List.of();
            }
        };
    }

    private static Set<String> respondingUuids(DeviceInventory devices) {
        return devices.gpus().stream()
                .filter(KnownGpu::answers)
                .map(known -> known.gpu().uuid())
                .collect(Collectors.toSet());
    }

    private static boolean isFault(DeviceScan.DriverProblem problem, DeviceInventory devices) {
        return switch (problem) {
            // A node without GPUs needs no driver.
            case LIBRARY_ABSENT, NOT_LOADED -> !devices.gpus().isEmpty();
            case VERSION_MISMATCH, FAILED -> true;
            case HELD -> false;
        };
    }

    /** Observes a state when it begins, and when it is detected again after it was resolved. */
    private List<NodeFact> observeUnlessActive(FaultKey key, String message, Context context) {
        return isActive(key) ? List.of() : observe(polled(key, message), context);
    }

    private boolean isActive(FaultKey key) {
        return health.find(key)
                .filter(fault -> !(fault.state() instanceof FaultCauseState.Resolved))
                .isPresent();
    }

    private static DeviceEvent.FaultDetected polled(FaultKey key, String message) {
        return new DeviceEvent.FaultDetected(key.gpuUuid(), "", key.fault(), FaultOrigin.POLL, message);
    }

    /** Removes GPUs, by UUID or serial number, from those that the node should have. */
    List<NodeFact> forget(Set<String> names, DeviceInventory devices, Holdings holdings, Moment now) {
        int before = learned.gpus().size();
        learned = learned.without(names).after(devices.lastScan());
        int forgotten = before - learned.gpus().size();
        log.add(() -> LOG.atInfo()
                .addKeyValue("names", names)
                .addKeyValue("gpus", forgotten)
                .log("GPUs removed from those that the node should have"));
        return devices.lastScan() instanceof DeviceScan.ScanSucceeded scan
                ? missing(learned.missing(scan), new Context(devices, holdings, now))
                : List.of();
    }

    /** Applies which GPUs of the node are gone; that one more is gone is another observation of one fault of the node. */
    private List<NodeFact> missing(List<LearnedGpus.LearnedGpu> gone, Context context) {
        if (gone.isEmpty()) {
            health = health.causeResolved(
                    MISSING, "the GPUs are back, replaced, or removed from the learned ones", context.now());
            return List.of();
        }
        String message = "gone from the PCI bus: "
                + gone.stream().map(LearnedGpus.LearnedGpu::toString).collect(Collectors.joining(", "))
                + "; if that was intended, write UUID or serial number into the file forget";
        boolean known = isActive(MISSING)
                && health.find(MISSING)
                        .filter(fault -> fault.message().equals(message))
                        .isPresent();
        return known ? List.of() : observe(polled(MISSING, message), context);
    }

    /** Applies an event of a device source. */
    List<NodeFact> deviceEvent(DeviceEvent event, DeviceInventory devices, Holdings holdings, Moment now) {
        return switch (event) {
            case DeviceEvent.FaultDetected seen -> {
                // A state of the source, such as a hung call, is reported when it begins.
                boolean known =
                        seen.origin() == FaultOrigin.POLL && isActive(new FaultKey(seen.gpuUuid(), seen.fault()));
                yield known ? List.of() : observe(seen, new Context(devices, holdings, now));
            }
            case DeviceEvent.CauseResolved(String uuid, FaultCode fault, String proof) -> {
                health = health.causeResolved(new FaultKey(uuid, fault), proof, now);
                needsSave = true;
                yield List.of();
            }
            case DeviceEvent.RescanRequested _, DeviceEvent.PollRequested _, DeviceEvent.RestartRequested _ ->
                List.of();
        };
    }

    /** Applies a line of the kernel log; before the first scan its PCI address cannot be mapped to a GPU. */
    List<NodeFact> kernelLogFault(
            KernelLogFault report, boolean scanned, DeviceInventory devices, Holdings holdings, Moment now) {
        if (scanned) {
            return observeKernelLogFault(report, new Context(devices, holdings, now));
        }
        if (pendingKernelFaults.size() < MAX_PENDING) {
            pendingKernelFaults.add(report);
        }
        return List.of();
    }

    private List<NodeFact> observeKernelLogFault(KernelLogFault report, Context context) {
        // An NVSwitch is no GPU, and a GPU that the driver never enumerated has no UUID: the fault is the node's.
        String uuid = report.fault() instanceof FaultCode.Sxid
                ? ""
                : context.devices().uuidAt(report.pciBusId()).orElse("");
        var event = new DeviceEvent.FaultDetected(uuid, "", report.fault(), FaultOrigin.KERNEL_LOG, report.message());
        List<NodeFact> facts = observe(event, report.subcode(), context);
        var key = new FaultKey(uuid, report.fault());
        boolean harmless = report.transientFault()
                || health.find(key).filter(OpenFault::withdraws).isEmpty();
        if (uuid.isEmpty() && harmless) {
            health = health.causeResolved(key, "driver reports no lasting effect", context.now());
        }
        return facts;
    }

    /** Applies a poll of all devices. */
    List<NodeFact> polled(List<GpuSample> all, DeviceInventory devices, Holdings holdings, Moment now) {
        var context = new Context(devices, holdings, now);
        var seen = new ArrayList<NodeFact>();
        counters.polled(all, now.nanos());
        for (GpuSample sample : all) {
            String uuid = sample.gpuUuid();
            if (sample.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers) {
                seen.addAll(observeUnlessActive(new FaultKey(uuid, LOST), "handle does not respond", context));
            }
            sample.recoveryAction()
                    .asOptional()
                    .filter(action -> action != RecoveryAction.NONE)
                    .ifPresent(action -> {
                        var asked = new FaultKey(uuid, new FaultCode.RecoveryRequested(action));
                        seen.addAll(observeUnlessActive(asked, "driver requests " + action, context));
                    });
            seen.addAll(evaluateRules(sample, context));
            health = health.polled(sample, now);
            if (sample.device().power().energyMillijoules() instanceof Reading.Known<Long>) {
                energy.put(uuid, sample.device().power().energyMillijoules());
            }
        }
        return seen;
    }

    private List<NodeFact> evaluateRules(GpuSample sample, Context context) {
        PollHistory.PollEvaluation judged = polls.evaluate(sample, context.now());
        polls = judged.next();
        var seen = new ArrayList<NodeFact>();
        judged.results().forEach((kind, result) -> {
            var key = new FaultKey(sample.gpuUuid(), new FaultCode.WithoutCode(kind));
            switch (result) {
                case FaultRuleResult.Occurred(String message) -> seen.addAll(observe(polled(key, message), context));
                case FaultRuleResult.Firing(String message) -> seen.addAll(observeUnlessActive(key, message, context));
                case FaultRuleResult.Inactive(String proof) -> health = health.causeResolved(key, proof, context.now());
                case FaultRuleResult.Inconclusive _, FaultRuleResult.NoData _ -> {}
            }
        });
        return seen;
    }

    private List<NodeFact> observe(DeviceEvent.FaultDetected event, Context context) {
        return observe(event, XidSubcode.NONE, context);
    }

    private List<NodeFact> observe(DeviceEvent.FaultDetected event, XidSubcode subcode, Context context) {
        var devices = context.devices();
        var subject = new OpenFault.Subject(
                event.migUuid(),
                devices.find(event.gpuUuid()).map(known -> known.gpu().model()).orElse(""),
                energy.getOrDefault(event.gpuUuid(), new Reading.Unavailable<>("not polled")),
                subcode);
        OpenFaults.ObservationResult observed = health.observe(event, subject, context.now());
        health = observed.next();
        OpenFault fault = observed.fault();
        return switch (observed) {
            case OpenFaults.ObservationResult.Duplicate _ -> List.of();
            // The occurrence was already published; its details follow with the open faults.
            case OpenFaults.ObservationResult.Refined _ -> {
                log(fault);
                needsSave = true;
                yield List.of();
            }
            case OpenFaults.ObservationResult.Repeated _ -> List.of(observed(fault, context));
            case OpenFaults.ObservationResult.Opened _ -> {
                log(fault);
                yield List.of(observed(fault, context));
            }
        };
    }

    private void log(OpenFault fault) {
        log.add(() -> LOG.atWarn()
                .addKeyValue("device", fault.key().gpuUuid())
                .addKeyValue("fault", fault.key().fault())
                .addKeyValue("withdraws", fault.withdraws())
                .addKeyValue("message", fault.message())
                .log("fault"));
    }

    private NodeFact observed(OpenFault fault, Context context) {
        counters.fault(fault.key(), context.now().nanos());
        return new NodeFact.FaultObserved(
                fault,
                context.holdings().of(context.devices().deviceUuids(fault.key().gpuUuid())));
    }

    /** Closes the faults whose dwell has passed. */
    List<NodeFact> clearDue(Moment now) {
        return cleared(health.clearDue(now));
    }

    /** Closes every fault after a reboot of the node, which reset every device. */
    List<NodeFact> afterReboot(String bootId) {
        return cleared(health.afterReboot(bootId));
    }

    private List<NodeFact> cleared(OpenFaults.ClearResult result) {
        health = result.next();
        var facts = new ArrayList<NodeFact>();
        for (OpenFaults.Cleared cleared : result.cleared()) {
            log.add(() -> LOG.atInfo()
                    .addKeyValue("device", cleared.fault().key().gpuUuid())
                    .addKeyValue("fault", cleared.fault().key().fault())
                    .addKeyValue("proof", cleared.proof())
                    .log("fault cleared"));
            facts.add(new NodeFact.FaultCleared(cleared.fault(), cleared.proof()));
        }
        return facts;
    }

    /** Applies changed overrides of single XIDs to the open faults. */
    void applyOverrides(XidOverrides overrides) {
        health = health.reevaluated(overrides);
    }
}
