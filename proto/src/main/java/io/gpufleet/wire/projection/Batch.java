package io.gpufleet.wire.projection;

import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Outputs, dead letters and counters of one polled batch, before they are written. */
final class Batch {
    private final Topic changelog;
    private final List<Outbound> outputs = new ArrayList<>();
    private final List<ProducerRecord<byte[], byte[]>> deadLetters = new ArrayList<>();
    /** Counters of this batch; added to those of the engine once the batch is committed. */
    final AtomicCounters counters = new AtomicCounters();

    private boolean unsequenced;

    Batch(Topic changelog) {
        this.changelog = changelog;
    }

    /**
     * Adds the outputs of an event. A changelog record of its key carries its sequence, so that a second read drops it.
     */
    void addFromEvent(String key, List<Outbound> caused) {
        outputs.addAll(caused);
        if (!caused.isEmpty()
                && caused.stream()
                        .noneMatch(output -> output.topic() == changelog
                                && output.key().equals(key)
                                && output instanceof Outbound.Event)) {
            unsequenced = true;
        }
    }

    /** Adds the outputs of a record without event id; only the committed offset prevents a second read of it. */
    void addUnsequenced(List<Outbound> caused) {
        outputs.addAll(caused);
        unsequenced |= !caused.isEmpty();
    }

    /** Adds the outputs of a timer tick. */
    void addFromTick(List<Outbound> caused) {
        outputs.addAll(caused);
    }

    void addDeadLetter(ProducerRecord<byte[], byte[]> letter) {
        deadLetters.add(letter);
        unsequenced = true;
    }

    /**
     * Returns whether the offsets must be committed in the same transaction, because a second read would repeat an
     * output.
     */
    boolean needsOffsets() {
        return unsequenced;
    }

    boolean isEmpty() {
        return outputs.isEmpty() && deadLetters.isEmpty();
    }

    List<Outbound> outputs() {
        return outputs;
    }

    List<ProducerRecord<byte[], byte[]>> deadLetters() {
        return deadLetters;
    }

    /** Returns the outputs to write: of the changelog records only the last one of each key. */
    List<Outbound> outputsToWrite() {
        List<Outbound> written = new ArrayList<>(outputs.size());
        Map<String, Outbound> newest = new LinkedHashMap<>();
        for (Outbound output : outputs) {
            if (output.topic() == changelog) {
                newest.put(output.key(), output);
            } else {
                written.add(output);
            }
        }
        written.addAll(newest.values());
        return written;
    }
}
