package io.gpufleet.bench.projection;

import com.google.protobuf.Timestamp;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;

/** Closed intervals of a month on {@code gpu.usage}, as an allocation-service left them: an hour each, of 200 namespaces. */
final class UsageRecords {
    private static final String WRITER = "allocation-service-0";
    private static final int NAMESPACES = 200;
    private static final int PODS_OF_A_JOB = 16;
    private static final long MONTH_SECONDS = Duration.ofDays(30).toSeconds();
    private static final long HOUR_SECONDS = 3_600;

    private final Codec codec = new Codec(FleetPlan.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private final Instant now = Instant.now();
    private final int nodes;
    private final int intervals;

    UsageRecords(int nodes, int intervals) {
        this.nodes = nodes;
        this.intervals = intervals;
    }

    /** Writes all of them. */
    void send(String bootstrap) {
        try (var sender = new RecordSender(bootstrap, "none")) {
            for (int number = 0; number < intervals; number++) {
                String node = FleetEvents.node(number % nodes);
                var envelope = new Envelope(
                        new EventId(WRITER, now.toEpochMilli(), Topic.USAGE, number + 1L),
                        new EventSource.Service(FleetPlan.CLUSTER, WRITER),
                        EventType.USAGE_CLOSED,
                        "",
                        node,
                        new EventTime(now, now, 0),
                        "");
                sender.send(codec.encode(envelope, interval(number, node)));
            }
            sender.flush();
        }
    }

    private UsageInterval interval(int number, String node) {
        long from = now.getEpochSecond() - MONTH_SECONDS + number * (MONTH_SECONDS - HOUR_SECONDS) / intervals;
        String device = "GPU-" + node + "-" + number % 8;
        return UsageInterval.newBuilder()
                .setIntervalId("interval-" + number)
                .setDeviceUuid(device)
                .setDeviceId(device)
                .setReplica(0)
                .setShareOf(1)
                .setShortModel("H100")
                .setResource("nvidia.com/gpu")
                .setNamespace("team-" + number / PODS_OF_A_JOB % NAMESPACES)
                .setPod("train-" + number)
                .setPodUid("uid-" + number)
                .setContainer("main")
                .setFrom(Timestamp.newBuilder().setSeconds(from))
                .setTo(Timestamp.newBuilder().setSeconds(from + HOUR_SECONDS))
                .setGpuMilliseconds(HOUR_SECONDS * 1_000)
                .setQuality(UsageQuality.USAGE_QUALITY_ALLOCATED)
                .setReason("released")
                .setNode(node)
                .setProduct("NVIDIA-H100-80GB-HBM3")
                .setOwner("Job/train-" + number / PODS_OF_A_JOB)
                .build();
    }
}
