package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.proto.allocation.v1.UsageDay;
import io.gpufleet.wire.EventDraft;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
}
