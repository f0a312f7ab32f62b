package io.gpufleet.runtime.sequence;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.AppliedSequences;
import io.gpufleet.wire.Codec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
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

    /**
     * The binary encoding of a state without the field, followed by the field: of a field that a message has once, protobuf takes
     * it from wherever it stands.
     */
    public byte[] append(byte[] state, KeySequences sequences) {
        AppliedSequences applied = sequences.toMessage();
        int size = CodedOutputStream.computeMessageSize(field.getNumber(), applied);
        byte[] whole = Arrays.copyOf(state, state.length + size);
        try {
            CodedOutputStream.newInstance(whole, state.length, size).writeMessage(field.getNumber(), applied);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return whole;
    }

    /** The JSON of a state without the field, with the field as its last one. */
    public byte[] appendJson(byte[] state, KeySequences sequences) {
        byte[] applied = Codec.toJson(sequences.toMessage());
        String before = (isEmpty(state) ? "" : ",") + '"' + field.getJsonName() + "\":";
        byte[] name = before.getBytes(UTF_8);
        byte[] whole = Arrays.copyOf(state, state.length + name.length + applied.length);
        int at = state.length - 1;
        System.arraycopy(name, 0, whole, at, name.length);
        System.arraycopy(applied, 0, whole, at + name.length, applied.length);
        whole[whole.length - 1] = '}';
        return whole;
    }

    private static boolean isEmpty(byte[] json) {
        return json.length == "{}".length();
    }

    public Message with(Message state, KeySequences sequences) {
        return state.toBuilder().setField(field, sequences.toMessage()).build();
    }
}
