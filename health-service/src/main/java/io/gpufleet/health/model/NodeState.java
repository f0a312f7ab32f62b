package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.device.NodeHardware;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.Faults;
import io.gpufleet.health.model.maintenance.Maintenance;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationSettings;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The complete state of one node; immutable.
 *
 * @param node name and UID of the Node object
 * @param boot boot of the newest daemon event
 * @param hardware the devices that it has, and those that it had
 * @param faults of the node itself
 * @param health health of the node as a whole
 * @param manual what operators keep out of service, or in it
 * @param revisions of the verdicts
 * @param acting what is held back, how far a drain is, and who holds devices
 */
public record NodeState(
        NodeReference node,
        Boot boot,
        NodeHardware hardware,
        Faults faults,
        NodeHealth health,
        Manual manual,
        Revisions revisions,
        Acting acting) {
    /** How long a node, or a device that left its node, is remembered. */
    public static final Duration FORGET_AFTER = Duration.ofDays(30);

    /**
     * Conditions for acting on the verdict, and the progress.
     *
     * @param heldBack what the policy asks for and is not carried out, by device; of the node by the empty text
     * @param drain how far the drain of the node is
     * @param holdings who holds which devices
     * @param remediation how far the newest remediation is
     * @param policyTainted when the policy tainted the node last; the epoch where it never did
     */
    public record Acting(
            SequencedMap<String, HeldBack> heldBack,
            DrainProgress drain,
            Holdings holdings,
            RemediationProgress remediation,
            Instant policyTainted) {
        /** Nothing. */
        public static final Acting NONE = new Acting(
                new TreeMap<>(), DrainProgress.NONE, Holdings.UNKNOWN, RemediationProgress.NONE, Instant.EPOCH);

        /** Copies the map, sorted by key. */
        public Acting {
            heldBack = new TreeMap<>(heldBack);
        }
    }

    /**
     * One boot of a node's kernel.
     *
     * @param id boot id; empty before the first daemon event
     * @param epoch newest incarnation of a daemon in this boot; orders boots
     * @param began append time of the first event of this boot; the epoch before it
     * @param gpus the GPUs that the machine should have, in any boot
     * @param formers ids of the boots before it, oldest first: what they wrote may be read later, whatever their epochs
     */
    public record Boot(String id, long epoch, Instant began, LearnedGpus gpus, List<String> formers) {
        private static final int MAX_FORMERS = 8;

        /** Before the first daemon event. */
        public static final Boot NONE = new Boot("", 0, Instant.EPOCH, LearnedGpus.NONE, List.of());

        /** Copies, and keeps the newest ones. */
        public Boot {
            formers = List.copyOf(formers.subList(Math.max(0, formers.size() - MAX_FORMERS), formers.size()));
        }

        /** The boot that follows this one. */
        Boot next(String newId, long newEpoch, Instant at, LearnedGpus newGpus) {
            var before = new ArrayList<>(formers);
            if (!id.isEmpty()) {
                before.add(id);
            }
            return new Boot(newId, newEpoch, at, newGpus, before);
        }

        Boot withEpoch(long newEpoch) {
            return new Boot(id, newEpoch, began, gpus, formers);
        }

        Boot with(LearnedGpus newGpus) {
            return new Boot(id, epoch, began, newGpus, formers);
        }
    }

    /**
     * GPUs that a machine should have.
     *
     * @param count the most that one announcement listed
     * @param knownSince since when its daemon keeps its own set, by the node's clock; the epoch when it does not say
     * @param daemonForgot true while some are absent about which the daemon knows nothing
     */
    public record LearnedGpus(int count, Instant knownSince, boolean daemonForgot) {
        /** None. */
        public static final LearnedGpus NONE = new LearnedGpus(0, Instant.EPOCH, false);
    }

    /**
     * Overrides by operators: devices kept out of service, or in it.
     *
     * @param quarantine set while an operator keeps the node out of service
     * @param override set while a manual override keeps our taint away
     * @param maintenance set while an operator declares that people work on the node
     */
    public record Manual(
            @Nullable Quarantine quarantine,
            @Nullable ManualOverride override,
            @Nullable Maintenance maintenance) {
        /** Nothing. */
        public static final Manual NONE = new Manual(null, null, null);
    }

    /**
     * Revisions of verdicts.
     *
     * @param verdict of the newest verdict, or of the first observation of the Node object; 0 before both
     * @param cause of the newest verdict with a new cause to take the node out of service; 0 before the first one
     */
    public record Revisions(long verdict, long cause) {
        /** Before the first verdict. */
        public static final Revisions NONE = new Revisions(0, 0);
    }

    /** Every device that the node has or should have, by UUID. */
    public SequencedMap<String, Device> devices() {
        return hardware.devices();
    }

    /** Open faults of the node itself, by code. */
    public SequencedMap<FaultCode, Episode> episodes() {
        return faults.open();
    }

    /** True for a device that the node had and that is gone, as the daemon says, or as we know where it forgot. */
    public boolean missing(Device device) {
        return !device.listed()
                && device.presence().learned()
                && !driverAway()
                && (boot.gpus().daemonForgot() || episodes().containsKey(FaultCode.of(FaultKind.GPU_MISSING)));
    }

    /** Set while an operator keeps the node out of service. */
    public @Nullable Quarantine quarantine() {
        return manual.quarantine();
    }

    /** Set while a manual override keeps our taint away. */
    public @Nullable ManualOverride override() {
        return manual.override();
    }

    /** Decisions of the policy that are held back, by device; for the node by the empty text. */
    public SequencedMap<String, HeldBack> heldBack() {
        return acting.heldBack();
    }

    /** Reason that holds everything new back while people work on the node; empty while they do not. */
    public Optional<String> maintenance() {
        return Maintenance.holdsBack(manual.maintenance(), node.placement().labels());
    }

    /** Pods that have to leave: of what is out of service, while nothing holds that back. */
    public DrainOrder drainOrder() {
        boolean leftAlone = maintenance().isPresent() || node.placement().optedOut();
        DrainOrder wish = leftAlone ? DrainOrder.NONE : health.drain();
        if (wish.wholeNode()) {
            return tainted() ? wish : DrainOrder.NONE;
        }
        List<String> out = wish.devices().stream()
                .filter(uuid -> device(uuid).filter(this::withdrawn).isPresent())
                .toList();
        return out.isEmpty() ? DrainOrder.NONE : new DrainOrder(wish.mode(), out);
    }

    /**
     * True when the fault of a device ended, and it stays out of service until an executor has proven that it works. What an
     * operator released returns at once, and what was never withdrawn has no way to return.
     */
    public boolean awaitsValidation(Device device, RemediationSettings settings) {
        return settings.validates()
                && device.health() instanceof DeviceHealth.Recovering recovering
                && !recovering.released()
                && withdrawn(device)
                && !acting().remediation().validated(device.uuid(), boot().id(), recovering.since());
    }

    /** Reason that forbids a remediation: devices in service, and those that people work on, are left alone. */
    public Optional<String> forbids(Remediation wanted) {
        if (maintenance().isPresent()) {
            return maintenance();
        }
        if (node.placement().optedOut()) {
            return Optional.of("the Node opts out by its label " + NodeReference.MANAGED);
        }
        if (quarantine() != null) {
            return Optional.of("an operator quarantined the node");
        }
        if (wanted.boots()) {
            return tainted() ? Optional.empty() : Optional.of("the node is not out of service");
        }
        return wanted.target().devices().stream()
                .map(Remediation.RemediatedDevice::uuid)
                .filter(uuid -> device(uuid).filter(this::withdrawn).isEmpty())
                .findFirst()
                .map(uuid -> uuid + " is not out of service");
    }

    /** Revision of the newest verdict. */
    public long revision() {
        return revisions.verdict();
    }

    /** State of a node before its first event. */
    public static NodeState unknown(String node, Instant at) {
        return new NodeState(
                new NodeReference(node, ""),
                Boot.NONE,
                NodeHardware.NONE,
                Faults.NONE,
                NodeHealth.healthy(at),
                Manual.NONE,
                Revisions.NONE,
                Acting.NONE);
    }

    /** The device, also one that left the node; empty when nothing is known about it. */
    public Optional<Device> device(String uuid) {
        return hardware.device(uuid);
    }

    /** Open faults of the device, or of the node itself when the UUID is empty. */
    public SequencedMap<FaultCode, Episode> episodesOf(String uuid) {
        return uuid.isEmpty() ? episodes() : device(uuid).map(Device::episodes).orElseGet(TreeMap::new);
    }

    /** When the fault was observed, as far as its rule counts that; of the node itself when the UUID is empty. */
    List<Instant> seen(String uuid, FaultCode code) {
        Faults of = uuid.isEmpty() ? faults : device(uuid).map(Device::faults).orElse(Faults.NONE);
        return of.seen().getOrDefault(code, List.of());
    }

    /** Every open fault of the node and of its devices. */
    public Stream<Episode> allEpisodes() {
        return Stream.concat(
                episodes().values().stream(),
                devices().values().stream().flatMap(device -> device.episodes().values().stream()));
    }

    /**
     * When the node may be forgotten: {@link #FORGET_AFTER} after its Node object was deleted and its daemon was heard
     * last. Never while an operator keeps it or one of its devices out of service.
     */
    public Optional<Instant> forgettableAt() {
        Instant goneSince = node.goneSince();
        return goneSince == null || hardware.anyByHand() || quarantine() != null
                ? Optional.empty()
                : Optional.of(goneSince.plus(FORGET_AFTER));
    }

    NodeState withNode(NodeReference newNode) {
        return new NodeState(newNode, boot, hardware, faults, health, manual, revisions, acting);
    }

    NodeState withBoot(Boot newBoot) {
        return new NodeState(node, newBoot, hardware, faults, health, manual, revisions, acting);
    }

    NodeState with(NodeHardware newHardware) {
        return new NodeState(node, boot, newHardware, faults, health, manual, revisions, acting);
    }

    NodeState withFaults(Faults newFaults) {
        return new NodeState(node, boot, hardware, newFaults, health, manual, revisions, acting);
    }

    NodeState withHealth(NodeHealth newHealth) {
        return new NodeState(node, boot, hardware, faults, newHealth, manual, revisions, acting);
    }

    NodeState withQuarantine(@Nullable Quarantine newQuarantine) {
        return with(new Manual(newQuarantine, override(), manual.maintenance()));
    }

    NodeState withOverride(@Nullable ManualOverride newOverride) {
        return with(new Manual(quarantine(), newOverride, manual.maintenance()));
    }

    NodeState withMaintenance(@Nullable Maintenance newMaintenance) {
        return with(new Manual(quarantine(), override(), newMaintenance));
    }

    private NodeState with(Manual newManual) {
        return new NodeState(node, boot, hardware, faults, health, newManual, revisions, acting);
    }

    NodeState with(Revisions newRevisions) {
        return new NodeState(node, boot, hardware, faults, health, manual, newRevisions, acting);
    }

    NodeState withHeldBack(SequencedMap<String, HeldBack> newHeldBack) {
        return with(new Acting(
                newHeldBack, acting.drain(), acting.holdings(), acting.remediation(), acting.policyTainted()));
    }

    NodeState with(DrainProgress newDrain) {
        return with(new Acting(
                acting.heldBack(), newDrain, acting.holdings(), acting.remediation(), acting.policyTainted()));
    }

    NodeState with(Holdings newHoldings) {
        return with(new Acting(
                acting.heldBack(), acting.drain(), newHoldings, acting.remediation(), acting.policyTainted()));
    }

    NodeState with(RemediationProgress newRemediation) {
        return with(new Acting(
                acting.heldBack(), acting.drain(), acting.holdings(), newRemediation, acting.policyTainted()));
    }

    NodeState withPolicyTainted(Instant at) {
        return with(new Acting(acting.heldBack(), acting.drain(), acting.holdings(), acting.remediation(), at));
    }

    private NodeState with(Acting newActing) {
        return new NodeState(node, boot, hardware, faults, health, manual, revisions, newActing);
    }

    /** Health of the device, or of the node itself when the UUID is empty. */
    HealthState healthOf(String uuid) {
        return uuid.isEmpty()
                ? health.state()
                : device(uuid).map(known -> known.health().state()).orElse(HealthState.HEALTHY);
    }

    /** True when the policy or an operator keeps the node out of service and nothing holds that back. */
    public boolean tainted() {
        return health.outOfService() && override() == null && !heldBack().containsKey("");
    }

    /** False for a device that its daemon does not offer, as all of them while the driver is away. */
    public boolean offered(Device device) {
        return device.locallyHealthy() && !(device.listed() && driverAway());
    }

    /** True while the grace of a fault lasts, as on almost no node; a plain loop, since this runs for every event. */
    boolean inGrace() {
        for (Device device : devices().values()) {
            for (Episode episode : device.episodes().values()) {
                if (episode.inGrace()) {
                    return true;
                }
            }
        }
        for (Episode episode : episodes().values()) {
            if (episode.inGrace()) {
                return true;
            }
        }
        return false;
    }

    /** True while the driver of the node does not respond. */
    boolean driverAway() {
        return !episodes().isEmpty() && episodes().containsKey(FaultCode.of(FaultKind.DRIVER));
    }

    /** True when the device is withdrawn and nothing holds that back. */
    public boolean withdrawn(Device device) {
        return !device.health().trusted() && !heldBack().containsKey(device.uuid());
    }
}
