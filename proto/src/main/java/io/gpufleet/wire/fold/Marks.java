package io.gpufleet.wire.fold;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.AppliedMarks;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.Decoded;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.Source;
import java.util.HashMap;
import java.util.Map;

/** Applied marks of all keys; also of keys that have no changelog record yet. */
final class Marks {
    private static final String FIELD = "applied";

    private final Map<String, KeyMarks> byKey = new HashMap<>();

    /** Judges an event and remembers it when it is fresh. */
    Admission admit(Decoded.Event event) {
        Envelope envelope = event.envelope();
        KeyMarks marks = byKey.computeIfAbsent(envelope.key(), _ -> new KeyMarks());
        Admission admission = marks.admit(envelope.source(), envelope.id(), boot(event));
        if (admission.fresh() && event.payload() instanceof EventsLost lost) {
            long untold = marks.lost(
                    envelope.source(),
                    envelope.id().topic(),
                    lost.getEpoch(),
                    lost.getFromSequence(),
                    lost.getToSequence());
            return new Admission(true, admission.newMachine(), admission.missed() + untold);
        }
        return admission;
    }

    /** Every payload of a daemon has its boot id in the field of that name. */
    private static String boot(Decoded.Event event) {
        if (event.envelope().source() instanceof Source.Service) {
            return "";
        }
        Message payload = event.payload();
        FieldDescriptor field = payload.getDescriptorForType().findFieldByName("boot_id");
        return field == null ? "" : (String) payload.getField(field);
    }

    /** The payload with the marks of its key. */
    Message mark(String key, Message payload) {
        KeyMarks marks = byKey.get(key);
        return marks == null
                ? payload
                : payload.toBuilder()
                        .setField(field(payload), marks.toMessage())
                        .build();
    }

    /** Takes over the marks of a changelog record and hands its payload back without them. */
    Message load(String key, Message payload) {
        FieldDescriptor field = field(payload);
        if (payload.getField(field) instanceof AppliedMarks applied) {
            byKey.put(key, KeyMarks.of(applied));
        }
        return payload.toBuilder().clearField(field).build();
    }

    void forget(String key) {
        byKey.remove(key);
    }

    private static FieldDescriptor field(Message payload) {
        FieldDescriptor field = payload.getDescriptorForType().findFieldByName(FIELD);
        if (field == null) {
            throw new IllegalArgumentException(payload.getDescriptorForType().getFullName()
                    + " is no changelog message: it has no field " + FIELD);
        }
        return field;
    }
}
