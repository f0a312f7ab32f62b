package io.gpufleet.allocation.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.DailySummation;
import io.gpufleet.allocation.app.DailySums;
import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.UsageLog;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.proto.allocation.v1.UsageDay;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Daily sums on the wire. */
class DailySumTopicTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-20T12:00:00Z"), ZoneOffset.UTC);

    @ParameterizedTest
    @EnumSource
    void sumOfEachQualityIsWrittenUnderItsKey(IntervalQuality quality) {
        List<EventDraft> sent = new ArrayList<>();
        String name = quality.name().toLowerCase(Locale.ROOT).replace('_', '-');
        var part = new DailySum.Part(
                "n1", UsageAttributes.of("NVIDIA-A100", "Job/train", Map.of("team", "vision")), 70_000, 2);
        var sum = new DailySum(LocalDate.parse("2026-11-19"), "ml", "A100", name, 70_000, 2, List.of(part));
        // When
        DailySumTopic.publisher(
                        event -> {
                            sent.add(event);
                            return CompletableFuture.failedStage(new IllegalStateException("broker is away"));
                        },
                        CLOCK)
                .accept(sum);
        // Then
        assertThat(sent).singleElement().satisfies(event -> {
            assertThat(event.topic()).isEqualTo(Topic.USAGE_DAILY);
            assertThat(event.key()).isEqualTo("2026-11-19/ml/A100/" + name);
            var day = (UsageDay) event.payload();
            assertThat(day.getDay()).isEqualTo("2026-11-19");
            assertThat(day.getGpuMilliseconds()).isEqualTo(70_000);
            assertThat(DailySumTopic.qualityName(day.getQuality())).isEqualTo(name);
            assertThat(DailySumTopic.sum(day)).isEqualTo(sum);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"99", "USAGE_QUALITY_OF_A_NEWER_RELEASE"})
    void sumWhoseQualityOnlyANewerReleaseKnowsIsLeftToIt(String quality) throws Exception {
        // Given
        String json =
                "{'day':'2026-11-19','namespace':'ml','shortModel':'A100','quality':'%s','gpuMilliseconds':'70000'}";
        Message newer = Codec.fromJson(
                json.formatted(quality)
                        .replace('\'', '"')
                        .replace("\"99\"", "99")
                        .getBytes(UTF_8),
                UsageDay.getDefaultInstance());
        Instant now = CLOCK.instant();
        var envelope = new Envelope(
                new EventId("s", 1, Topic.USAGE_DAILY, 1),
                new EventSource.Service("c1", "s"),
                EventType.USAGE_SUMMED,
                "",
                "2026-11-19/ml/A100/newer",
                new EventTime(now, now, 0),
                "");
        var sums = new DailySums(1_000_000);
        var topic = new DailySumTopic(sums);
        topic.event(new DecodedRecord.Event(envelope, newer, now));
        topic.loaded();
        var log = new UsageLog(new Ledger(_ -> {}), CLOCK, 1_000_000);
        log.loaded();
        var active = new ActiveLease();
        active.begin(() -> true);
        List<EventDraft> sent = new ArrayList<>();
        Consumer<DailySum> publisher = DailySumTopic.publisher(
                event -> {
                    sent.add(event);
                    return CompletableFuture.completedStage(null);
                },
                CLOCK);
        // When
        new DailySummation(log, sums, active, publisher, CLOCK).run();
        // Then
        assertThat(sent).isEmpty();
    }
}
