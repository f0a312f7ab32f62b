package io.gpufleet.wire.projection;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.AppliedSequences;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventSource;
import java.util.HashMap;
import java.util.Map;

/** Applied sequences of all keys, including keys without a changelog record. */
final class AppliedSequencesByKey {
    private static final String APPLIED_FIELD = "applied";

    private final Map<String, KeySequences> byKey = new HashMap<>();

    /** Decides whether an event is fresh, and records it if so. */
    DedupeResult deduplicate(DecodedRecord.Event event) {
        Envelope envelope = event.envelope();
        KeySequences sequences = byKey.computeIfAbsent(envelope.key(), _ -> new KeySequences());
        DedupeResult result = sequences.deduplicate(envelope.source(), envelope.id(), bootId(event));
        if (result.fresh() && event.payload() instanceof EventsLost lost) {
            long uncounted = sequences.recordLoss(
                    envelope.source(),
                    envelope.id().topic(),
                    lost.getEpoch(),
                    lost.getFromSequence(),
                    lost.getToSequence());
            return new DedupeResult(true, result.newMachine(), result.missed() + uncounted);
        }
        return result;
    }

    /** Returns the boot id from the payload's field {@code boot_id}, which every payload of a daemon has. */
    private static String bootId(DecodedRecord.Event event) {
        if (event.envelope().source() instanceof EventSource.Service) {
            return "";
        }
        Message payload = event.payload();
        FieldDescriptor field = payload.getDescriptorForType().findFieldByName("boot_id");
        return field == null ? "" : (String) payload.getField(field);
    }

    /** Returns the payload with the applied sequences of its key. */
    Message withSequences(String key, Message payload) {
        KeySequences sequences = byKey.get(key);
        return sequences == null
                ? payload
                : payload.toBuilder()
                        .setField(appliedField(payload), sequences.toMessage())
                        .build();
    }

    /** Loads the applied sequences of a changelog record and returns the payload without them. */
    Message load(String key, Message payload) {
        FieldDescriptor field = appliedField(payload);
        if (payload.getField(field) instanceof AppliedSequences applied) {
            byKey.put(key, KeySequences.of(applied));
        }
        return payload.toBuilder().clearField(field).build();
    }

    void forget(String key) {
        byKey.remove(key);
    }

    private static FieldDescriptor appliedField(Message payload) {
        FieldDescriptor field = payload.getDescriptorForType().findFieldByName(APPLIED_FIELD);
        if (field == null) {
            throw new IllegalArgumentException(payload.getDescriptorForType().getFullName()
                    + " is not a changelog message: it has no field " + APPLIED_FIELD);
        }
        return field;
    }
}
