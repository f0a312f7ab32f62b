package io.gpufleet.runtime.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Records of a changelog that are not decoded yet; of each key only the newest counts. */
public final class NewestRecords {
    private final Map<String, ConsumerRecord<byte[], byte[]>> byKey = new LinkedHashMap<>();
    private long bytes;

    /** Adds records that are newer than those before. */
    public void add(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        records.forEach(rec -> {
            String key = rec.key() == null ? "" : new String(rec.key(), UTF_8);
            ConsumerRecord<byte[], byte[]> older = byKey.put(key, rec);
            bytes += size(rec) - (older == null ? 0 : size(older));
        });
    }

    private static int size(ConsumerRecord<byte[], byte[]> rec) {
        return Math.max(0, rec.serializedKeySize()) + Math.max(0, rec.serializedValueSize());
    }

    /** Size of their keys and values. */
    public long bytes() {
        return bytes;
    }

    /** Removes all of them. */
    public Collection<ConsumerRecord<byte[], byte[]>> take() {
        Collection<ConsumerRecord<byte[], byte[]>> taken = new ArrayList<>(byKey.values());
        byKey.clear();
        bytes = 0;
        return taken;
    }
}
