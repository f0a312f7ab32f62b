package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.DailySums;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.allocation.model.usage.UsagePiece;
import io.gpufleet.proto.allocation.v1.UsageDay;
import io.gpufleet.proto.allocation.v1.UsagePart;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.runtime.follower.TopicFollower;
import io.gpufleet.runtime.follower.TopicListener;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code gpu.usage-daily}: read into the {@link DailySums}, and written. */
public final class DailySumTopic implements TopicListener {
    private static final Logger LOG = LoggerFactory.getLogger(DailySumTopic.class);
    /** A time before 1970 would be refused by the client. */
    private static final Duration EVERYTHING = Duration.ofDays(3_650);

    private static final String QUALITY = "USAGE_QUALITY_";

    private final DailySums sums;

    DailySumTopic(DailySums sums) {
        this.sums = sums;
    }

    /** Starts the thread that reads the whole topic, and what is appended, until it is closed. */
    public static TopicFollower follow(KafkaClients kafka, Codec codec, DailySums sums, Clock clock) {
        var followed = new TopicFollower.Followed(Topic.USAGE_DAILY, EVERYTHING, "allocation-service");
        return TopicFollower.start(kafka, codec, followed, new DailySumTopic(sums), clock);
    }

    /** Writes sums; one that is not taken is written by a later summation. */
    public static Consumer<DailySum> publisher(Function<EventDraft, CompletionStage<Void>> send, Clock clock) {
        return sum -> send.apply(Outbound.Event.of(
                        Topic.USAGE_DAILY, EventType.USAGE_SUMMED, sum.key(), message(sum), clock.instant()))
                .whenComplete((_, failure) -> {
                    if (failure != null) {
                        LOG.atWarn()
                                .addKeyValue("key", sum.key())
                                .addKeyValue("error", failure.toString())
                                .log("daily sum not written");
                    }
                });
    }

    @Override
    public void event(DecodedRecord.Event event) {
        // A quality that only a newer release knows is its own affair: it writes the sum, and corrects it.
        if (event.payload() instanceof UsageDay day
                && !qualityName(day.getQuality()).equals(UsagePiece.UNKNOWN)) {
            try {
                sums.add(sum(day));
            } catch (DateTimeParseException unreadable) {
                LOG.atWarn().addKeyValue("key", event.envelope().key()).log("daily sum without a day, skipped");
            }
        }
    }

    @Override
    public void loaded() {
        sums.loaded();
    }

    static DailySum sum(UsageDay day) {
        return new DailySum(
                LocalDate.parse(day.getDay()),
                day.getNamespace(),
                day.getShortModel(),
                qualityName(day.getQuality()),
                day.getGpuMilliseconds(),
                day.getIntervals(),
                day.getPartsList().stream().map(DailySumTopic::part).toList());
    }

    private static UsageDay message(DailySum sum) {
        return UsageDay.newBuilder()
                .setDay(sum.day().toString())
                .setNamespace(sum.namespace())
                .setShortModel(sum.model())
                .setQuality(UsageQuality.valueOf(
                        QUALITY + sum.quality().toUpperCase(Locale.ROOT).replace('-', '_')))
                .setGpuMilliseconds(sum.gpuMillis())
                .setIntervals(sum.intervals())
                .addAllParts(sum.parts().stream().map(DailySumTopic::message).toList())
                .build();
    }

    private static UsagePart message(DailySum.Part part) {
        return UsagePart.newBuilder()
                .setNode(part.node())
                .setProduct(part.attributes().product())
                .setOwner(part.attributes().owner())
                .putAllLabels(part.attributes().labels())
                .setGpuMilliseconds(part.gpuMillis())
                .setIntervals(part.intervals())
                .build();
    }

    private static DailySum.Part part(UsagePart message) {
        return new DailySum.Part(
                message.getNode(),
                UsageAttributes.of(message.getProduct(), message.getOwner(), message.getLabelsMap()),
                message.getGpuMilliseconds(),
                message.getIntervals());
    }

    /** Quality as the API names it, for example {@code allocated-while-faulty}; of a newer release, {@code unknown}. */
    static String qualityName(UsageQuality quality) {
        return quality == UsageQuality.UNRECOGNIZED || quality == UsageQuality.USAGE_QUALITY_UNSPECIFIED
                ? UsagePiece.UNKNOWN
                : quality.name().replace(QUALITY, "").replace('_', '-').toLowerCase(Locale.ROOT);
    }
}
