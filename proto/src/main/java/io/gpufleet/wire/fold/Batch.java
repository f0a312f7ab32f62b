package io.gpufleet.wire.fold;

import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** What one polled batch caused, before it is written. */
final class Batch {
    private final Topic changelog;
    private final List<Outbound> outputs = new ArrayList<>();
    private final List<ProducerRecord<byte[], byte[]>> deadLetters = new ArrayList<>();
    /** What was counted; counts for all once the batch is committed. */
    final Tally count = new Tally();

    private boolean unmarked;

    Batch(Topic changelog) {
        this.changelog = changelog;
    }

    /** Outputs of an event whose key's marks tell a second reading that it was applied, if they are written. */
    void ofEvent(String key, List<Outbound> caused) {
        outputs.addAll(caused);
        if (!caused.isEmpty()
                && caused.stream()
                        .noneMatch(output -> output.topic() == changelog
                                && output.key().equals(key)
                                && output instanceof Outbound.Event)) {
            unmarked = true;
        }
    }

    /** Outputs of a record without identity: only the position tells that it was read. */
    void ofUnmarked(List<Outbound> caused) {
        outputs.addAll(caused);
        unmarked |= !caused.isEmpty();
    }

    /** Outputs of the passing of time. */
    void ofTime(List<Outbound> caused) {
        outputs.addAll(caused);
    }

    void dead(ProducerRecord<byte[], byte[]> letter) {
        deadLetters.add(letter);
        unmarked = true;
    }

    /** True when only positions in the same transaction keep a second reading from causing it again. */
    boolean needsPositions() {
        return unmarked;
    }

    boolean empty() {
        return outputs.isEmpty() && deadLetters.isEmpty();
    }

    List<Outbound> outputs() {
        return outputs;
    }

    List<ProducerRecord<byte[], byte[]>> deadLetters() {
        return deadLetters;
    }

    /** What is written: within a transaction only the last changelog record of a key is of use. */
    List<Outbound> written() {
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
