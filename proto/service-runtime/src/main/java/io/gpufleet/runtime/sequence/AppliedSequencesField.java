package io.gpufleet.runtime.sequence;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.AppliedSequences;
import java.util.Optional;

/** The field {@code applied} of a changelog message, which the engine alone reads and sets. */
public final class AppliedSequencesField {
    private final FieldDescriptor field;

    public AppliedSequencesField(Message prototype) {
        FieldDescriptor found = prototype.getDescriptorForType().findFieldByName("applied");
        if (found == null) {
            throw new IllegalArgumentException(prototype.getDescriptorForType().getFullName()
                    + " is no changelog message: it has no field applied");
        }
        this.field = found;
    }

    public Optional<KeySequences> of(Message state) {
        return state.hasField(field) && state.getField(field) instanceof AppliedSequences applied
                ? Optional.of(KeySequences.of(applied))
                : Optional.empty();
    }

    public Message without(Message state) {
        return state.toBuilder().clearField(field).build();
    }

    public Message with(Message state, KeySequences sequences) {
        return state.toBuilder().setField(field, sequences.toMessage()).build();
    }
}
