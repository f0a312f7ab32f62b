package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.DevicesAnnounced;
import io.gpufleet.health.model.device.Device;
import java.util.HashSet;
import java.util.Set;

/** Effects of an announcement: which devices the node has, and which of the known ones are missing or replaced. */
final class Announcements {
    private final Evaluation evaluation;
    private final FaultSignals faults;

    Announcements(Evaluation evaluation, FaultSignals faults) {
        this.evaluation = evaluation;
        this.faults = faults;
    }

    DecisionContext handle(DevicesAnnounced announced) {
        var present = new HashSet<String>();
        for (AnnouncedDevice device : announced.devices()) {
            present.add(device.uuid());
            update(device);
            if (!device.lost()) {
                faults.endFormer(device.uuid());
            }
        }
        absent(present);
        if (present.size() > evaluation.state().boot().devices()) {
            evaluation.emit(
                    new HealthEvent.BootChanged(evaluation.state().boot().withDevices(present.size())));
        }
        return DecisionContext.of("announced", "announced");
    }

    private void update(AnnouncedDevice device) {
        boolean changed = evaluation
                .state()
                .device(device.uuid())
                .map(known -> !known.listed()
                        || known.lost() != device.lost()
                        || !known.model().equals(device.model()))
                .orElse(true);
        if (changed && evaluation.withinDeviceLimit(device.uuid())) {
            evaluation.emit(new HealthEvent.DeviceUpdated(device.uuid(), device.model(), true, device.lost()));
        }
    }

    /** A faulty or lost device that is missing stays what it is; of a node with all its devices it was replaced. */
    private void absent(Set<String> present) {
        boolean complete = present.size() >= evaluation.state().boot().devices();
        for (Device device : evaluation.state().devices().values()) {
            if (present.contains(device.uuid())) {
                continue;
            }
            if (device.listed()) {
                evaluation.emit(new HealthEvent.DeviceUpdated(device.uuid(), device.model(), false, device.lost()));
            }
            evaluation
                    .state()
                    .device(device.uuid())
                    .filter(known ->
                            complete && known.missing(evaluation.state().boot().id()))
                    .ifPresent(faults::replaced);
        }
    }
}
