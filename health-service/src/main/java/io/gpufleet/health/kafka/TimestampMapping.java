package io.gpufleet.health.kafka;

import com.google.protobuf.Timestamp;
import java.time.Instant;

/** Maps instants to protobuf timestamps and back. */
final class TimestampMapping {
    private TimestampMapping() {}

    static Timestamp toWire(Instant time) {
        return Timestamp.newBuilder()
                .setSeconds(time.getEpochSecond())
                .setNanos(time.getNano())
                .build();
    }

    static Instant fromWire(Timestamp time) {
        return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
    }
}
