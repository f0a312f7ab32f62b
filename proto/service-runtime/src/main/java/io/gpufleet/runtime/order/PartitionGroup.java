package io.gpufleet.runtime.order;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Partitions whose records are handed out in one order. */
final class PartitionGroup {
    private final List<OrderedPartition> members = new ArrayList<>();

    void add(OrderedPartition member) {
        members.add(member);
    }

    /** Adds records to a list until it has so many, or until the next one has to wait for another partition. */
    void take(int most, long nanos, List<ConsumerRecord<byte[], byte[]>> taken) {
        while (taken.size() < most) {
            OrderedPartition oldest = members.getFirst();
            long limit = Long.MAX_VALUE;
            for (OrderedPartition member : members) {
                if (member.headMillis() < oldest.headMillis() || oldest.isEmpty()) {
                    oldest = member;
                }
                if (member.isAwaited(nanos)) {
                    limit = Math.min(limit, member.limitMillis());
                }
            }
            if (oldest.isEmpty()) {
                return;
            }
            if (oldest.headMillis() > limit) {
                members.stream().filter(member -> member.isAwaited(nanos)).forEach(member -> member.await(nanos));
                return;
            }
            taken.add(oldest.removeHead());
        }
    }
}
