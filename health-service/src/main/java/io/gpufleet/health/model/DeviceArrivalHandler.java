package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.policy.HealthPolicy;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Effects of a device that comes from another machine, or back to its own: it booted, so that what a boot repairs is over, and
 * everything else came with it.
 */
final class DeviceArrivalHandler {
    private final Evaluation evaluation;
    private final HealthPolicy policy;

    DeviceArrivalHandler(Evaluation evaluation, HealthPolicy policy) {
        this.evaluation = evaluation;
        this.policy = policy;
    }

    /** A device that left this node is here again. */
    void returned(String uuid) {
        evaluation.emit(new NodeStateChange.DeviceReturned(uuid));
        Device known = evaluation.state().device(uuid).orElseThrow();
        RepairHistory history = counted(known).history();
        if (!history.equals(known.history())) {
            evaluation.emit(new NodeStateChange.HistoryChanged(uuid, history));
        }
    }

    /**
     * The device is in this machine now.
     *
     * @param known as it was elsewhere
     */
    void arrived(Device known) {
        String uuid = known.uuid();
        if (!evaluation.withinDeviceLimit(uuid)) {
            return;
        }
        RepairHistory here =
                evaluation.state().device(uuid).map(Device::history).orElse(RepairHistory.NONE);
        Device came = counted(known.with(known.faults().with(here.with(known.history()))));
        evaluation.emit(new NodeStateChange.HistoryChanged(uuid, came.history()));
        List<Episode> kept = came.episodes().values().stream()
                .filter(episode -> evaluation.evaluator().outlivesBoots(came, episode))
                .toList();
        kept.stream()
                .filter(episode -> !evaluation.state().episodesOf(uuid).containsKey(episode.code()))
                .forEach(episode -> evaluation.emit(new NodeStateChange.EpisodeUpdated(uuid, episode)));
        health(known.health(), !kept.isEmpty()).ifPresent(health -> become(uuid, health));
    }

    /** A move is a boot for the device, unless the node that it left counted one since its faults began. */
    private Device counted(Device device) {
        Optional<RecommendedAction> attempt = evaluation.evaluator().attemptOfABoot(device);
        Instant newest = device.episodes().values().stream()
                .filter(Episode::acts)
                .map(Episode::since)
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH);
        return attempt.filter(_ -> !device.history().bootedSince(newest))
                .map(action -> device.with(device.faults()
                        .with(device.history()
                                .attempted(action, policy.escalation().within(), evaluation.at()))))
                .orElse(device);
    }

    /** Health that does not follow from its faults; a dwell goes on, or begins with the end of a fault. */
    private Optional<DeviceHealth> health(DeviceHealth there, boolean faultsFollow) {
        return switch (there) {
            case DeviceHealth.Quarantined quarantined -> Optional.of(quarantined);
            case DeviceHealth.Retired retired -> Optional.of(retired);
            case DeviceHealth.Recovering recovering -> faultsFollow ? Optional.empty() : Optional.of(recovering);
            case DeviceHealth.Unhealthy unhealthy ->
                faultsFollow ? Optional.empty() : Optional.of(unhealthy.toRecovering(evaluation.at()));
            case DeviceHealth.Healthy _, DeviceHealth.Suspect _, DeviceHealth.Lost _ -> Optional.empty();
        };
    }

    /** Sets its health, unless it is out of service here already and no person's decision arrives. */
    private void become(String uuid, DeviceHealth health) {
        boolean out = evaluation
                .state()
                .device(uuid)
                .filter(here -> here.byHand() || !here.health().trusted())
                .isPresent();
        boolean byHand = health instanceof DeviceHealth.Quarantined || health instanceof DeviceHealth.Retired;
        if (!out || (byHand && !evaluation.state().device(uuid).orElseThrow().byHand())) {
            evaluation.emit(new NodeStateChange.DeviceHealthChanged(uuid, health));
        }
    }
}
