package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.DevicesAnnounced;
import io.gpufleet.health.model.device.Device;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Effects of an announcement: which devices the node has, and which of the known ones are missing or replaced. */
final class AnnouncementHandler {
    private final Evaluation evaluation;
    private final FaultSignalHandler faults;
    private final DeviceArrivalHandler arrivals;

    AnnouncementHandler(Evaluation evaluation, FaultSignalHandler faults, DeviceArrivalHandler arrivals) {
        this.evaluation = evaluation;
        this.faults = faults;
        this.arrivals = arrivals;
    }

    DecisionContext handle(DevicesAnnounced announced) {
        Set<String> present =
                announced.devices().stream().map(AnnouncedDevice::uuid).collect(Collectors.toSet());
        boolean otherMachine = isOtherMachine(announced, present);
        for (AnnouncedDevice device : announced.devices()) {
            if (evaluation.state().hardware().isFormer(device.uuid())) {
                arrivals.returned(device.uuid());
            }
            update(device);
            if (!device.lost()) {
                faults.endFormer(device.uuid());
            }
        }
        absent(announced, present, otherMachine);
        NodeState.LearnedGpus before = otherMachine
                ? NodeState.LearnedGpus.NONE
                : evaluation.state().boot().gpus();
        learn(announced, before, present.size());
        forgetFormer();
        return DecisionContext.of("announced", "announced");
    }

    /**
     * A machine has none of the GPUs that the node had: it is another one, whatever its epoch, since a daemon lists those of its own
     * that are gone, and one that forgot them still has the others.
     */
    private boolean isOtherMachine(DevicesAnnounced announced, Set<String> present) {
        List<String> learned = evaluation.state().devices().values().stream()
                .filter(device -> device.presence().learned())
                .map(Device::uuid)
                .toList();
        return announced.knowledge().driverResponds()
                && !present.isEmpty()
                && !learned.isEmpty()
                && learned.stream().noneMatch(present::contains);
    }

    /** A daemon that lost its own set says nothing about a GPU that was gone before. */
    private void learn(DevicesAnnounced announced, NodeState.LearnedGpus before, int present) {
        if (!announced.knowledge().driverResponds()) {
            return;
        }
        Instant since = announced.knowledge().knownSince();
        boolean forgot = since.equals(Instant.EPOCH)
                || (!before.knownSince().equals(Instant.EPOCH) && since.isAfter(before.knownSince()));
        boolean complete = present >= before.count();
        var after = new NodeState.LearnedGpus(
                Math.max(before.count(), present), since, !complete && (forgot || before.daemonForgot()));
        if (!after.equals(evaluation.state().boot().gpus())) {
            evaluation.emit(
                    new NodeStateChange.BootChanged(evaluation.state().boot().with(after)));
        }
    }

    /** Forgets devices that left long ago. */
    private void forgetFormer() {
        evaluation.state().hardware().former().forEach((uuid, left) -> {
            if (!left.device().byHand()
                    && !evaluation.at().isBefore(left.since().plus(NodeState.FORGET_AFTER))) {
                evaluation.emit(new NodeStateChange.DeviceForgotten(uuid));
            }
        });
    }

    private void update(AnnouncedDevice device) {
        boolean changed = evaluation
                .state()
                .device(device.uuid())
                .map(known -> !known.listed()
                        || known.lost() != device.lost()
                        || !known.identity().equals(device.identity()))
                .orElse(true);
        if (changed && evaluation.withinDeviceLimit(device.uuid())) {
            evaluation.emit(new NodeStateChange.DeviceUpdated(device.uuid(), device.identity(), true, device.lost()));
        }
    }

    /** A device that is missing stays what it is, unless the node has all its devices or another one is in its slot. */
    private void absent(DevicesAnnounced announced, Set<String> present, boolean otherMachine) {
        boolean complete = present.size() >= evaluation.state().boot().gpus().count();
        Set<String> slots = announced.devices().stream()
                .map(device -> device.identity().slot())
                .filter(slot -> !slot.isEmpty())
                .collect(Collectors.toSet());
        for (Device device : List.copyOf(evaluation.state().devices().sequencedValues())) {
            if (present.contains(device.uuid())) {
                continue;
            }
            if (device.listed()) {
                evaluation.emit(
                        new NodeStateChange.DeviceUpdated(device.uuid(), device.identity(), false, device.lost()));
            }
            if (otherMachine) {
                evaluation.state().device(device.uuid()).ifPresent(faults::leaves);
                continue;
            }
            boolean replaced = complete || slots.contains(device.identity().slot());
            evaluation
                    .state()
                    .device(device.uuid())
                    .filter(known -> announced.knowledge().driverResponds() && replaced)
                    .filter(known -> known.presence().learned()
                            || known.missing(evaluation.state().boot().id()))
                    .ifPresent(faults::replaced);
        }
    }
}
