package io.gpufleet.proto.kubelet;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Meaning of requests by their bytes: a kubelet sends the same ones again and again. Used by one thread. */
final class RememberedRequests<Q, R> implements RequestReader<R> {
    /** All that a kubelet asks for while its node has the same pods; of foreign ones no more than 64 KiB are kept. */
    private static final int MAX_REQUESTS = 32;

    private static final int MAX_BYTES = 2_048;

    private final Parser<Q> parser;
    private final Function<Q, R> meaning;
    private final Map<RequestBytes, R> known = new HashMap<>();

    /** Bytes that are compared by their content. */
    private record RequestBytes(byte[] bytes, int hash) {
        @Override
        public boolean equals(Object other) {
            return other instanceof RequestBytes(byte[] others, int otherHash)
                    && hash == otherHash
                    && Arrays.equals(bytes, others);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    RememberedRequests(Parser<Q> parser, Function<Q, R> meaning) {
        this.parser = parser;
        this.meaning = meaning;
    }

    @Override
    public R read(byte[] message) throws InvalidProtocolBufferException {
        if (message.length > MAX_BYTES) {
            return meaning.apply(parser.parseFrom(message));
        }
        var key = new RequestBytes(message, Arrays.hashCode(message));
        R remembered = known.get(key);
        if (remembered != null) {
            return remembered;
        }
        R read = meaning.apply(parser.parseFrom(message));
        if (known.size() >= MAX_REQUESTS) {
            known.clear();
        }
        known.put(key, read);
        return read;
    }
}
