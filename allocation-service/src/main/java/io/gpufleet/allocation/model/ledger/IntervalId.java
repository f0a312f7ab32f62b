package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import java.time.Instant;
import java.util.UUID;

/** Ids of intervals: the same log gives the same ids in every replica and every replay. */
final class IntervalId {
    private IntervalId() {}

    /** Id of an interval that a fact opened, without the UID of the pod, which may become known later. */
    static String opened(String cluster, String node, Holding holding, EventSequence sequence) {
        Holder holder = holding.holder();
        DeviceSlot slot = holding.device().slot();
        return hash(
                cluster,
                node,
                slot.deviceUuid(),
                Integer.toString(slot.replica()),
                holder.namespace(),
                holder.pod(),
                holder.container(),
                Long.toString(sequence.epoch()),
                Long.toString(sequence.sequence()));
    }

    /** Id of the rest of a split interval. */
    static String continued(String id, Instant split) {
        return hash(id, split.toString());
    }

    /** Id of an interval of a device by its number on its node. */
    static String ofDevice(String cluster, String node, long number) {
        return hash(cluster, node, "device-time", Long.toString(number));
    }

    // 122 bits of MD5: the id is no secret, and java.util has nothing wider.
    private static String hash(String... parts) {
        String text = String.join("\n", parts);
        byte[] bytes = new byte[2 * text.length()];
        for (int i = 0; i < text.length(); i++) {
            bytes[2 * i] = (byte) (text.charAt(i) >> 8);
            bytes[2 * i + 1] = (byte) text.charAt(i);
        }
        return UUID.nameUUIDFromBytes(bytes).toString().replace("-", "");
    }
}
