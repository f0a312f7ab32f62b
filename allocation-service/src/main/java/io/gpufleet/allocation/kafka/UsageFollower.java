package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.UsageLog;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.allocation.model.usage.UsagePiece;
import io.gpufleet.proto.allocation.v1.DeviceInterval;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.runtime.follower.TopicFollower;
import io.gpufleet.runtime.follower.TopicListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;

/** Reads {@code gpu.usage} into the {@link UsageLog}: what is kept of it at the start, then what is appended. */
public final class UsageFollower implements TopicListener {
    private final UsageLog log;
    private final Interner<String> texts = new Interner<>();

    private UsageFollower(UsageLog log) {
        this.log = log;
    }

    /** Starts the thread, which reads until it is closed and starts over after a failure. */
    public static TopicFollower start(KafkaClients kafka, Codec codec, UsageLog log, Clock clock) {
        var followed = new TopicFollower.Followed(Topic.USAGE, UsageLog.RETENTION, "allocation-service");
        return TopicFollower.start(kafka, codec, followed, new UsageFollower(log), clock);
    }

    @Override
    public void event(DecodedRecord.Event event) {
        if (event.payload() instanceof UsageInterval usage) {
            Holding holding = LedgerMapper.holding(usage, texts);
            log.add(new UsagePiece(
                    usage.getIntervalId(),
                    texts.intern(event.envelope().key()),
                    holding,
                    UsageAttributes.of(
                                    texts.intern(usage.getProduct()),
                                    texts.intern(usage.getOwner()),
                                    usage.getLabelsMap())
                            .withReducesIdle(usage.getReducesIdle()),
                    LedgerMapper.time(usage.getFrom()),
                    LedgerMapper.time(usage.getTo()),
                    DailySumTopic.qualityName(usage.getQuality()),
                    holding.device().weight(usage.getGpuMilliseconds() < 0 ? -1 : 1)));
        }
        if (event.payload() instanceof DeviceInterval interval) {
            DeviceTimeMapper.interval(interval)
                    .ifPresent(time ->
                            log.add(UsagePiece.of(texts.intern(event.envelope().key()), time)));
        }
    }

    @Override
    public void started() {
        log.started();
    }

    @Override
    public void loaded() {
        log.loaded();
    }
}
