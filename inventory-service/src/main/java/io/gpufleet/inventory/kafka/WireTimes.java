package io.gpufleet.inventory.kafka;

import com.google.protobuf.Timestamp;
import java.time.Instant;

/** Maps times to messages and back. */
final class WireTimes {
    private WireTimes() {}

    static Timestamp timestamp(Instant at) {
        return Timestamp.newBuilder()
                .setSeconds(at.getEpochSecond())
                .setNanos(at.getNano())
                .build();
    }

    static Instant instant(Timestamp at) {
        return Instant.ofEpochSecond(at.getSeconds(), at.getNanos());
    }
}
