package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.DaemonSignal;
import io.gpufleet.health.model.HealthSignal.FaultCleared;
import io.gpufleet.health.model.HealthSignal.FaultObserved;
import io.gpufleet.health.model.HealthSignal.FaultsOpen;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.HealthSignal.ReportedFault;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Effects of reported faults on the episodes of a node and its devices. */
final class FaultSignalHandler {
    private final Evaluation evaluation;
    private final HealthPolicy policy;
    private final Duration maxActionAge;
    private final ObservationCounter observations;

    FaultSignalHandler(Evaluation evaluation, HealthPolicy policy, Duration maxActionAge) {
        this.observations = new ObservationCounter(evaluation, policy);
        this.evaluation = evaluation;
        this.policy = policy;
        this.maxActionAge = maxActionAge;
    }

    DecisionContext observed(FaultObserved fault) {
        reportedAgain(fault.device(), fault.code());
        if (observations.isRepetition(fault)) {
            return DecisionContext.NONE;
        }
        observations.seen(fault);
        FaultRule rule = policy.rule(fault.code(), fault.fault().report());
        var context = new DecisionContext(fault.message(), rule.name(), fault.holders());
        Optional<Episode> before = episode(fault.device(), fault.code());
        if (rule.faultClass() == FaultClass.IGNORE) {
            if (before.isPresent()) {
                evaluation.emit(new NodeStateChange.EpisodeEnded(fault.device(), fault.code()));
            }
            evaluation.recordUnchanged(context, fault.device(), Status.RECORDED, actionText(rule));
            return context;
        }
        boolean stale = isStale(fault);
        var open =
                new OpenFault(fault.fault(), before.map(Episode::observations).orElse(0L) + 1);
        updateEpisode(fault, open, !stale);
        offeredNoMore(fault.fault());
        boolean beganToAct = acts(episode(fault.device(), fault.code())) && !acts(before);
        if (stale && before.isEmpty()) {
            String age = fault.metadata().age().toSeconds() + " s old";
            evaluation.recordUnchanged(context, fault.device(), Status.STALE, "none, event is " + age);
        } else if (beganToAct && rule.faultClass() == FaultClass.SUSPECT) {
            evaluation.recordUnchanged(context, fault.device(), Status.RECORDED, actionText(rule));
        }
        return context;
    }

    DecisionContext cleared(FaultCleared cleared) {
        episode(cleared.device(), cleared.code())
                // A daemon closes the faults of a former boot when the node booted: that says no more than the boot
                // itself.
                .filter(episode -> episode.bootId().equals(cleared.incarnation().id()))
                .ifPresent(episode -> {
                    if (isOfCurrentBoot(cleared)) {
                        countReset(cleared.device(), episode);
                    }
                    end(cleared.device(), episode);
                    if (isOfCurrentBoot(cleared)) {
                        offeredAgain(cleared.device(), episode);
                    }
                });
        return DecisionContext.recovery("cleared: " + cleared.proof());
    }

    DecisionContext open(FaultsOpen snapshot) {
        var listed = new HashSet<FaultKey>();
        for (OpenFault fault : snapshot.faults()) {
            if (policy.rule(fault.code(), fault.fault().report()).faultClass() != FaultClass.IGNORE) {
                listed.add(new FaultKey(fault.device(), fault.code()));
                reportedAgain(fault.device(), fault.code());
                updateEpisode(snapshot, fault, !isStale(snapshot));
            }
        }
        endEpisodes(open -> !listed.contains(open.key()) && provesEnd(snapshot, open));
        snapshot.locallyHealthy().forEach(this::localHealth);
        return DecisionContext.recovery("listed in faults.open");
    }

    /**
     * Absence proves the end of a fault, unless only daemons of a former state directory reported it. A fault of the driver, which
     * nobody can clear, ends with a device that is offered, since that takes a driver.
     */
    private static boolean provesEnd(FaultsOpen absent, OpenEpisode open) {
        Episode.Reporter reporter = open.episode().reporter();
        return reporter.bootId().equals(absent.incarnation().id())
                && (reporter.epoch() >= absent.knownSinceEpoch()
                        || (open.key().code().kind() == FaultKind.DRIVER
                                && absent.locallyHealthy().containsValue(true)));
    }

    void localHealth(String uuid, boolean healthy) {
        boolean known =
                evaluation.state().device(uuid).map(Device::locallyHealthy).orElse(true);
        if (known != healthy && evaluation.withinDeviceLimit(uuid)) {
            evaluation.emit(new NodeStateChange.HealthReported(uuid, healthy));
        }
    }

    /** The daemon's reaction to a fault counts at once: the offers that it reports next say the same. */
    private void offeredNoMore(ReportedFault fault) {
        if (fault.report().withdrawal().withdraws() && !fault.device().isEmpty()) {
            localHealth(fault.device(), false);
        }
    }

    /** A device that the daemon keeps back for another reason is reported right after the end of the fault. */
    private void offeredAgain(String uuid, Episode ended) {
        if (!isOfCurrentBoot(ended)) {
            return;
        }
        if (ended.code().kind() == FaultKind.DRIVER) {
            evaluation.state().hardware().all().map(Device::uuid).forEach(this::offeredUnlessWithdrawn);
        } else if (ended.withdrawnByNode() && !uuid.isEmpty()) {
            offeredUnlessWithdrawn(uuid);
        }
    }

    private void offeredUnlessWithdrawn(String uuid) {
        boolean withdrawn = evaluation.state().episodesOf(uuid).values().stream()
                .anyMatch(open -> open.withdrawnByNode() && isOfCurrentBoot(open));
        if (!withdrawn) {
            localHealth(uuid, true);
        }
    }

    private boolean isOfCurrentBoot(Episode episode) {
        return episode.bootId().equals(evaluation.state().boot().id());
    }

    /**
     * A new boot has no faults yet. A fault that withdraws a device stays open until the new boot shows the device, since a
     * GPU that is gone after a boot is not repaired.
     */
    void beginBoot() {
        endEpisodes(open -> open.key().device().isEmpty()
                || !open.episode().acts()
                || !policy.rule(open.episode()).faultClass().withdraws());
        resetLocalHealth();
    }

    /** Another machine has the name: nothing that was known about the former one is true, but for what goes with its GPUs. */
    void beginMachine() {
        endEpisodes(open -> open.key().device().isEmpty());
        resetLocalHealth();
        List.copyOf(evaluation.state().devices().sequencedValues()).forEach(this::leaves);
    }

    /** A device is in another machine, or in none, and what is known of it goes with it. */
    void leaves(Device device) {
        if (device.follows()) {
            evaluation.emit(new NodeStateChange.DeviceDeparted(device.uuid(), evaluation.at()));
        } else {
            forgetDevice(device);
        }
    }

    /** Ends the faults of former boots of a device that the current one shows, except those that no boot repairs. */
    void endFormer(String uuid) {
        String current = evaluation.state().boot().id();
        evaluation
                .state()
                .device(uuid)
                .ifPresent(device -> device.episodes().values().stream()
                        .filter(episode -> !episode.bootId().equals(current))
                        .filter(episode -> !evaluation.evaluator().outlivesBoots(device, episode))
                        .forEach(episode -> end(uuid, episode)));
    }

    /** The device shows itself in this boot; a fault of a former boot that it reports again is a new one. */
    private void reportedAgain(String uuid, FaultCode code) {
        NodeState before = evaluation.state();
        if (before.hardware().isFormer(uuid)) {
            new DeviceArrivalHandler(evaluation, policy).returned(uuid);
        }
        endFormer(uuid);
        episode(uuid, code)
                .filter(episode -> !uuid.isEmpty()
                        && !episode.bootId().equals(evaluation.state().boot().id()))
                .ifPresent(episode -> end(uuid, episode));
        if (evaluation.state() != before) {
            // So that no reason of the former boot is kept.
            evaluation.applyTransitions(policy);
        }
    }

    /** Another device is in its place: its faults of former boots go with it, unless it was reported in this boot, too. */
    void replaced(Device device) {
        List<Episode> former = device.episodes().values().stream()
                .filter(episode -> !isOfCurrentBoot(episode))
                .toList();
        boolean gone =
                former.size() == device.episodes().size() && former.stream().anyMatch(this::withdraws);
        evaluation.emit(new NodeStateChange.DeviceUnlearned(device.uuid()));
        if (gone) {
            evaluation.emit(new NodeStateChange.DeviceDeparted(device.uuid(), evaluation.at()));
        } else {
            former.stream()
                    .filter(episode -> !evaluation.evaluator().outlivesBoots(device, episode))
                    .forEach(episode -> end(device.uuid(), episode));
        }
    }

    /** A device that had left is as far away as before, in the health that follows from a command about it. */
    void stillGone(String uuid) {
        evaluation.state().device(uuid).ifPresent(device -> evaluation.transition(device, policy));
        evaluation
                .state()
                .device(uuid)
                .filter(Device::follows)
                .ifPresent(_ -> evaluation.emit(new NodeStateChange.DeviceDeparted(uuid, evaluation.at())));
    }

    private boolean withdraws(Episode episode) {
        return episode.acts() && policy.rule(episode).faultClass().withdraws();
    }

    /** Ends every fault of a device and what is remembered of it, as if it were repaired. */
    void forgetDevice(Device device) {
        device.episodes()
                .values()
                .forEach(episode -> evaluation.emit(new NodeStateChange.EpisodeEnded(device.uuid(), episode.code())));
        forgetHistory(device);
    }

    private void forgetHistory(Device device) {
        evaluation.emit(new NodeStateChange.DeviceUnlearned(device.uuid()));
        evaluation.emit(new NodeStateChange.FaultsForgotten(device.uuid()));
    }

    /**
     * A boot is an attempt to repair every device that a fault keeps out of service, also one that it does not help. One that begins
     * before the last one showed the device, or its fault, is the same attempt: nothing says that the last one was in vain.
     */
    void countBoot() {
        for (Device device : evaluation.state().devices().values()) {
            evaluation
                    .evaluator()
                    .attemptOfABoot(device)
                    .filter(_ -> !device.listed() || wasSeen(device))
                    .ifPresent(action -> attempted(device, action));
        }
    }

    /** A fault that withdraws it was reported in the boot that ends, or outlives it; an announcement would have ended others. */
    private boolean wasSeen(Device device) {
        return device.episodes().values().stream()
                .filter(this::withdraws)
                .anyMatch(episode ->
                        isOfCurrentBoot(episode) || evaluation.evaluator().outlivesBoots(device, episode));
    }

    private void attempted(Device device, RecommendedAction action) {
        evaluation.emit(new NodeStateChange.HistoryChanged(
                device.uuid(),
                device.history().attempted(action, policy.escalation().within(), evaluation.at())));
    }

    /** The effect of a reset is that the fault ends without a boot. */
    private void countReset(String uuid, Episode ended) {
        if (!uuid.isEmpty()
                && ended.acts()
                && policy.rule(ended).faultClass().withdraws()
                && ended.bootId().equals(evaluation.state().boot().id())) {
            evaluation
                    .state()
                    .device(uuid)
                    .filter(device -> policy.recommendedAction(ended, device.history()) == RecommendedAction.RESET_GPU)
                    .ifPresent(device -> attempted(device, RecommendedAction.RESET_GPU));
        }
    }

    private void end(String uuid, Episode episode) {
        evaluation.emit(new NodeStateChange.EpisodeEnded(uuid, episode.code()));
    }

    private void resetLocalHealth() {
        evaluation.state().hardware().all().map(Device::uuid).forEach(uuid -> localHealth(uuid, true));
    }

    private boolean isOfCurrentBoot(DaemonSignal signal) {
        return signal.incarnation().id().equals(evaluation.state().boot().id());
    }

    /**
     * A fault of a former boot, read after the next one began: recorded only, unless it withdraws a GPU that the next boot
     * does not show, or is one that no boot repairs.
     */
    DecisionContext formerBoot(FaultObserved fault) {
        FaultRule rule = policy.rule(fault.code(), fault.fault().report());
        boolean shown =
                evaluation.state().device(fault.device()).filter(Device::listed).isPresent();
        boolean stillOpen = !fault.device().isEmpty()
                && rule.faultClass().withdraws()
                && (!shown || rule.faultClass().outlivesBoots());
        if (stillOpen && !isStale(fault)) {
            updateEpisode(fault, new OpenFault(fault.fault(), 1), true);
            return new DecisionContext(fault.message(), rule.name(), fault.holders());
        }
        String reason = "reported by former boot " + fault.incarnation().id();
        evaluation.recordUnchanged(
                DecisionContext.of(reason, rule.name()),
                fault.device(),
                Status.STALE,
                "none, reported by a former boot");
        return DecisionContext.recovery(reason);
    }

    private Optional<Episode> episode(String device, FaultCode code) {
        return Optional.ofNullable(evaluation.state().episodesOf(device).get(code));
    }

    private static boolean acts(Optional<Episode> episode) {
        return episode.filter(Episode::acts).isPresent();
    }

    private boolean isStale(HealthSignal signal) {
        return signal.metadata().age().compareTo(maxActionAge) > 0;
    }

    /** Opens the episode or adds the report to it. An episode that acts keeps acting. */
    private void updateEpisode(DaemonSignal signal, OpenFault fault, boolean acts) {
        if (!evaluation.withinDeviceLimit(fault.device())) {
            return;
        }
        Optional<Episode> before = episode(fault.device(), fault.code());
        var after = new Episode(
                fault.code(),
                fault.fault().report(),
                before.map(Episode::since).orElse(evaluation.at()),
                Math.max(before.map(Episode::observations).orElse(1L), fault.observations()),
                new Episode.Reporter(
                        signal.incarnation().id(), signal.incarnation().epoch()),
                before.map(Episode::eventId).orElse(signal.metadata().eventId()),
                acts(before) || acts,
                observations.restraint(fault.device(), fault.code(), before));
        if (!before.equals(Optional.of(after))) {
            evaluation.emit(new NodeStateChange.EpisodeUpdated(fault.device(), after));
        }
        updateModel(fault.device(), fault.fault().model());
    }

    private void updateModel(String uuid, String model) {
        evaluation
                .state()
                .device(uuid)
                .filter(device -> !model.isEmpty() && !device.model().equals(model))
                .ifPresent(device -> evaluation.emit(new NodeStateChange.DeviceUpdated(
                        device.uuid(), new Device.Identity(model, "", ""), device.listed(), device.lost())));
    }

    /** One fault of one device, or of the node. */
    private record FaultKey(String device, FaultCode code) {}

    /** An open fault and where it is. */
    private record OpenEpisode(FaultKey key, Episode episode) {}

    private void endEpisodes(Predicate<OpenEpisode> ended) {
        NodeState state = evaluation.state();
        Stream.concat(
                        state.episodes().values().stream().map(episode -> openEpisode("", episode)),
                        state.devices().values().stream()
                                .flatMap(device -> device.episodes().values().stream()
                                        .map(episode -> openEpisode(device.uuid(), episode))))
                .filter(ended)
                .forEach(open -> evaluation.emit(new NodeStateChange.EpisodeEnded(
                        open.key().device(), open.key().code())));
    }

    private static OpenEpisode openEpisode(String device, Episode episode) {
        return new OpenEpisode(new FaultKey(device, episode.code()), episode);
    }

    private static String actionText(FaultRule rule) {
        return rule.recommendedAction() == RecommendedAction.NONE
                ? "none"
                : "none; recommended action: " + rule.recommendedAction().slug();
    }
}
