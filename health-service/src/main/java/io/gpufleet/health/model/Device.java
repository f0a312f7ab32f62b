package io.gpufleet.health.model;

import java.util.Collection;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * All that is known of one device of a node.
 *
 * @param uuid GPU UUID
 * @param model product name; empty until it was heard
 * @param listed whether the newest announcement of the node names it
 * @param lost whether that announcement says that it does not answer
 * @param locallyHealthy the daemon's own opinion, as last heard on the health topic
 * @param episodes open faults, by code
 * @param health what is concluded
 */
public record Device(
        String uuid,
        String model,
        boolean listed,
        boolean lost,
        boolean locallyHealthy,
        SequencedMap<FaultCode, Episode> episodes,
        DeviceHealth health) {
    /** Copies the episodes, in the order of their codes, so that equal states look equal. */
    public Device {
        episodes = Episodes.sorted(episodes.values());
    }

    /** A device of which nothing bad was heard. */
    public static Device unknown(String uuid, DeviceHealth.Healthy healthy) {
        return new Device(uuid, "", false, false, true, new TreeMap<>(), healthy);
    }

    /** True when nothing would be lost by forgetting it: it is not there, and nothing is remembered against it. */
    public boolean forgettable() {
        return !listed && locallyHealthy && episodes.isEmpty() && health instanceof DeviceHealth.Healthy;
    }

    Device heardOf(String newModel, boolean isListed, boolean isLost) {
        String kept = newModel.isEmpty() ? model : newModel;
        return new Device(uuid, kept, isListed, isLost, locallyHealthy, episodes, health);
    }

    Device opined(boolean healthy) {
        return new Device(uuid, model, listed, lost, healthy, episodes, health);
    }

    Device with(DeviceHealth next) {
        return new Device(uuid, model, listed, lost, locallyHealthy, episodes, next);
    }

    Device with(SequencedMap<FaultCode, Episode> open) {
        return new Device(uuid, model, listed, lost, locallyHealthy, open, health);
    }

    /** Sorted maps of episodes. */
    static final class Episodes {
        private Episodes() {}

        static SequencedMap<FaultCode, Episode> sorted(Collection<Episode> episodes) {
            return episodes.stream()
                    .collect(Collectors.toMap(Episode::code, Function.identity(), (a, b) -> b, TreeMap::new));
        }
    }
}
