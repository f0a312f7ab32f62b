package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.DaemonSignal;
import io.gpufleet.health.model.HealthSignal.FaultCleared;
import io.gpufleet.health.model.HealthSignal.FaultObserved;
import io.gpufleet.health.model.HealthSignal.FaultsOpen;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Effects of reported faults on the episodes of a node and its devices. */
final class FaultSignals {
    private final Evaluation evaluation;
    private final HealthPolicy policy;
    private final Duration maxActionAge;

    FaultSignals(Evaluation evaluation, HealthPolicy policy, Duration maxActionAge) {
        this.evaluation = evaluation;
        this.policy = policy;
        this.maxActionAge = maxActionAge;
    }

    DecisionContext observed(FaultObserved fault) {
        FaultRule rule = policy.rule(fault.code(), fault.action());
        var context = new DecisionContext(fault.message(), rule.name(), fault.holders());
        Optional<Episode> before = episode(fault.device(), fault.code());
        if (rule.faultClass() == FaultClass.IGNORE) {
            if (before.isPresent()) {
                evaluation.emit(new HealthEvent.EpisodeEnded(fault.device(), fault.code()));
            }
            evaluation.recordUnchanged(context, fault.device(), Status.RECORDED, actionText(rule));
            return context;
        }
        boolean stale = isStale(fault);
        var open = new OpenFault(
                fault.device(),
                fault.model(),
                fault.code(),
                fault.action(),
                before.map(Episode::observations).orElse(0L) + 1);
        updateEpisode(fault, open, !stale);
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
        if (episode(cleared.device(), cleared.code()).isPresent()) {
            evaluation.emit(new HealthEvent.EpisodeEnded(cleared.device(), cleared.code()));
        }
        return DecisionContext.recovery("cleared: " + cleared.proof());
    }

    DecisionContext open(FaultsOpen snapshot) {
        var listed = new HashSet<FaultKey>();
        for (OpenFault fault : snapshot.faults()) {
            if (policy.rule(fault.code(), fault.action()).faultClass() != FaultClass.IGNORE) {
                listed.add(new FaultKey(fault.device(), fault.code()));
                updateEpisode(snapshot, fault, !isStale(snapshot));
            }
        }
        endEpisodesExcept(listed);
        snapshot.locallyHealthy().forEach(this::localHealth);
        return DecisionContext.recovery("listed in faults.open");
    }

    void localHealth(String uuid, boolean healthy) {
        boolean known =
                evaluation.state().device(uuid).map(Device::locallyHealthy).orElse(true);
        if (known != healthy && evaluation.withinDeviceLimit(uuid)) {
            evaluation.emit(new HealthEvent.HealthReported(uuid, healthy));
        }
    }

    /** Ends every episode and resets the local health of every device: a new boot has no faults yet. */
    void reset() {
        endEpisodesExcept(Set.of());
        evaluation.state().devices().keySet().forEach(uuid -> localHealth(uuid, true));
    }

    /** Records a fault of a former boot, which changes nothing. */
    DecisionContext recordFormerBoot(FaultObserved fault) {
        String reason = "reported by former boot " + fault.incarnation().id();
        String rule = policy.rule(fault.code(), fault.action()).name();
        evaluation.recordUnchanged(
                DecisionContext.of(reason, rule), fault.device(), Status.STALE, "none, reported by a former boot");
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
                fault.action(),
                before.map(Episode::since).orElse(evaluation.at()),
                Math.max(before.map(Episode::observations).orElse(1L), fault.observations()),
                signal.incarnation().id(),
                before.map(Episode::eventId).orElse(signal.metadata().eventId()),
                acts(before) || acts);
        if (!before.equals(Optional.of(after))) {
            evaluation.emit(new HealthEvent.EpisodeUpdated(fault.device(), after));
        }
        updateModel(fault.device(), fault.model());
    }

    private void updateModel(String uuid, String model) {
        evaluation
                .state()
                .device(uuid)
                .filter(device -> !model.isEmpty() && !device.model().equals(model))
                .ifPresent(device -> evaluation.emit(
                        new HealthEvent.DeviceUpdated(device.uuid(), model, device.listed(), device.lost())));
    }

    /** One fault of one device, or of the node. */
    private record FaultKey(String device, FaultCode code) {}

    private void endEpisodesExcept(Set<FaultKey> open) {
        NodeState state = evaluation.state();
        List.copyOf(state.episodes().keySet()).stream()
                .filter(code -> !open.contains(new FaultKey("", code)))
                .forEach(code -> evaluation.emit(new HealthEvent.EpisodeEnded("", code)));
        state.devices()
                .values()
                .forEach(device -> device.episodes().keySet().stream()
                        .filter(code -> !open.contains(new FaultKey(device.uuid(), code)))
                        .forEach(code -> evaluation.emit(new HealthEvent.EpisodeEnded(device.uuid(), code))));
    }

    private static String actionText(FaultRule rule) {
        return rule.recommendedAction() == RecommendedAction.NONE
                ? "none"
                : "none; recommended action: " + rule.recommendedAction().slug();
    }
}
