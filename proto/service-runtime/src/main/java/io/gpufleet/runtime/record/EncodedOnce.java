package io.gpufleet.runtime.record;

import com.google.protobuf.Message;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Values of a batch, on any thread once all payloads are announced. A state that an output shows as well is the same message of
 * the same type: it is encoded once.
 */
public final class EncodedOnce {
    private final EventType type;
    private final Map<Message, AtomicReference<byte @Nullable []>> values = new IdentityHashMap<>();

    /** Shares the values of one type. */
    public EncodedOnce(EventType type) {
        this.type = type;
    }

    /** Announces the payload of an output. */
    public void announce(EventType ofOutput, Message payload) {
        if (ofOutput == type) {
            values.put(payload, new AtomicReference<>());
        }
    }

    /** The value of a payload. */
    public byte[] value(EventType ofPayload, Message payload) {
        AtomicReference<byte @Nullable []> shared = ofPayload == type ? values.get(payload) : null;
        if (shared == null) {
            return Codec.toValue(ofPayload, payload);
        }
        // Two threads may both encode it, to the same bytes.
        return Objects.requireNonNull(
                shared.updateAndGet(known -> known == null ? Codec.toValue(ofPayload, payload) : known));
    }
}
