package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Timestamp;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Times of JSON that no calendar has: protobuf would take them for others, and write lines of its own. */
@NullMarked
class NonexistentTimesTest {
    private static final Logger ROOT = Logger.getLogger("");

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void readLog() {
        ROOT.addHandler(handler);
    }

    @AfterEach
    void leaveLog() {
        ROOT.removeHandler(handler);
    }

    private static ActiveReplica decode(String time) throws InvalidProtocolBufferException {
        byte[] json = ("{\"instance\":\"a\",\"since\":\"" + time + "\"}").getBytes(UTF_8);
        return (ActiveReplica) PayloadEncoding.JSON.decode(json, ActiveReplica.getDefaultInstance(), false);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-02-29T00:00:00Z",
                "2026-13-01T00:00:00Z",
                "2026-01-01T24:00:00Z",
                "2026-01-01T23:59:60Z",
                "2026-02-30T00:00:00+02:00"
            })
    void timeThatDoesNotExistIsRefusedByItsReasonAlone(String time) {
        assertThatThrownBy(() -> decode(time))
                .isInstanceOf(InvalidProtocolBufferException.class)
                .hasMessageContaining(time);

        assertThat(lines).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-02-28T10:00:00Z", "2026-02-28T12:00:00+02:00", "2026-02-28T10:00:00.000000000Z"})
    void timeOfTheCalendarIsTakenInEachForm(String time) throws Exception {
        long seconds = Instant.parse("2026-02-28T10:00:00Z").getEpochSecond();

        assertThat(decode(time).getSince())
                .isEqualTo(Timestamp.newBuilder().setSeconds(seconds).build());
        assertThat(lines).isEmpty();
    }
}
