package io.gpufleet.runtime.record;

import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.sequence.AppliedSequencesField;
import io.gpufleet.runtime.sequence.KeySequences;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.PayloadEncoding;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Encodes states for the changelog, on any thread. An event with an output that changes no state writes the state of its key again,
 * for its sequence (decision 0004): of such a key the value is kept, and only the sequences are encoded anew.
 */
public final class StateEncoder<S> {
    /** A state and its binary encoding, without sequences. */
    private record Written<S>(S state, byte[] value) {}

    private final Projection<S> projection;
    private final EventType type;
    private final AppliedSequencesField applied;
    private final Map<String, Written<S>> written = new ConcurrentHashMap<>();

    /** Keeps nothing yet. */
    public StateEncoder(Projection<S> projection) {
        this.projection = projection;
        this.type = projection.spec().stateType();
        this.applied = new AppliedSequencesField(type.prototype());
    }

    /**
     * The value of a record.
     *
     * @param again whether the changelog has this state already, with older sequences
     * @param values of the batch, which may have encoded this state already for an output
     */
    public byte[] encode(String key, S state, Optional<KeySequences> sequences, boolean again, EncodedOnce values) {
        if (type.encoding() != PayloadEncoding.PROTOBUF) {
            byte[] value = values.value(type, projection.write(key, state));
            return sequences.map(known -> applied.appendJson(value, known)).orElse(value);
        }
        byte[] value = binary(key, state, again);
        return sequences.map(known -> applied.append(value, known)).orElse(value);
    }

    private byte[] binary(String key, S state, boolean again) {
        Written<S> known = written.get(key);
        if (known != null && known.state() == state) {
            return known.value();
        }
        byte[] value = Codec.toValue(type, projection.write(key, state));
        // Of a key whose state changes with every event it would be memory for nothing.
        if (again) {
            written.put(key, new Written<>(state, value));
        } else if (known != null) {
            written.remove(key);
        }
        return value;
    }

    /** Forgets a key that is given up. */
    public void forget(String key) {
        written.remove(key);
    }
}
