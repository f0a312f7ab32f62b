package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.EpisodeState;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The limits of lists and of incarnations, at the limit and one beyond. */
class EnvelopeBoundsTest {
    private static final Instant APPENDED = Instant.parse("2026-03-01T12:00:00Z");

    private static Message announced(int gpus) {
        return NodeAnnounced.newBuilder()
                .addAllGpus(
                        Collections.nCopies(gpus, Gpu.newBuilder().setIndex(1).build()))
                .build();
    }

    private static Message nested(int episodes) {
        var device = DeviceHealthState.newBuilder()
                .addAllEpisodes(Collections.nCopies(
                        episodes, EpisodeState.newBuilder().setEventId("e").build()));
        return NodeHealthState.newBuilder().addDevices(device).build();
    }

    @Test
    void listOfTenThousandEntriesIsRead() {
        for (Message payload : new Message[] {announced(10_000), nested(10_000)}) {
            assertThatCode(() -> EnvelopeBounds.check(payload, payload.getSerializedSize()))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void listOfOneEntryMoreIsRefusedAtAnyDepth() {
        refused(announced(10_001), "field gpus has 10001 entries, more than 10000");
        refused(nested(10_001), "field episodes has 10001 entries, more than 10000");
    }

    private static void refused(Message payload, String line) {
        assertThatThrownBy(() -> EnvelopeBounds.check(payload, payload.getSerializedSize()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(line);
    }

    private static void checkIncarnation(Duration ahead) {
        EnvelopeBounds.check(
                new EventId("n1", APPENDED.plus(ahead).toEpochMilli(), Topic.HEALTH, 1),
                new EventTime(APPENDED, APPENDED, 0),
                APPENDED);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1_000, 0, 23, 24})
    void incarnationOfUpToADayAheadIsRead(int hours) {
        assertThatCode(() -> checkIncarnation(Duration.ofHours(hours))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(longs = {24 * 3_600_000L + 1, 25 * 3_600_000L})
    void incarnationOfMoreThanADayAheadIsRefused(long millis) {
        assertThatThrownBy(() -> checkIncarnation(Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than a day ahead of the append time 2026-03-01T12:00:00Z");
    }
}
