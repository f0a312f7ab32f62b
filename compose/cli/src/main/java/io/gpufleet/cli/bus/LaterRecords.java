package io.gpufleet.cli.bus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Tells whether a later record of the same topic and key says all that a dead letter said, so that it repaired the loss. */
final class LaterRecords {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<Topic, EventType> SNAPSHOTS = Map.of(
            Topic.INVENTORY, EventType.NODE_ANNOUNCED,
            Topic.HEALTH, EventType.FAULTS_OPEN,
            Topic.ALLOCATION, EventType.DEVICES_HELD);

    private LaterRecords() {}

    /** True for a snapshot of the daemon after any of its events, and for a signal about the same thing. */
    static boolean replaces(Topic topic, DeadLetter letter, ConsumerRecord<byte[], byte[]> later) {
        if (!Arrays.equals(letter.rec().key(), later.key())
                || later.headers().lastHeader(DeadLetterOrigin.REPLAYED) != null) {
            return false;
        }
        String type = DeadLetter.header(later, "ce_type").orElse("");
        EventType snapshot = SNAPSHOTS.get(topic);
        if (snapshot != null) {
            return type.equals(snapshot.ceType());
        }
        return topic == Topic.SIGNALS
                && type.equals(letter.header("ce_type"))
                && subject(letter.rec().value())
                        .filter(subject -> Optional.of(subject).equals(subject(later.value())))
                        .isPresent();
    }

    /** Subject of a command or an observation. */
    private static Optional<String> subject(byte[] value) {
        try {
            JsonNode json = JSON.readTree(value == null ? new byte[0] : value);
            if (json.has("command")) {
                return Optional.of("device " + json.path("deviceUuid").asText());
            }
            return json.properties().stream()
                    .findFirst()
                    .map(fact -> fact.getKey() + " "
                            + (fact.getKey().equals("pod")
                                    ? fact.getValue().path("uid").asText()
                                    : ""));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }
}
