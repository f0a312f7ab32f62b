package io.gpufleet.wire;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The catalogue of topics: how many partitions, what is kept, for how long, how it is compressed. The full name is the
 * prefix of the fleet (default {@code gpu.}) and {@link #suffix()}; {@link Topics} joins them.
 */
public enum Topic {
    /** What a node has. */
    INVENTORY("inventory", Key.NODE, 32, Kept.forDays(90), Compression.GZIP),
    /** Faults seen and cleared, what the kubelet was told. */
    HEALTH("health", Key.NODE, 32, Kept.forDays(90), Compression.NONE),
    /** Answers to Allocate, and who holds what. */
    ALLOCATION("allocation", Key.NODE, 32, Kept.forDays(90), Compression.NONE),
    /** Samples every 10 s; also the heartbeat. */
    TELEMETRY("telemetry", Key.NODE, 32, Kept.deleteAfter(Duration.ofHours(6)), Compression.GZIP),
    /** Operators' words and what was observed of Kubernetes. */
    SIGNALS("signals", Key.NODE, 32, Kept.forDays(365), Compression.NONE),
    /** May a node and its devices be trusted. More partitions, since each daemon reads exactly one. */
    VERDICTS("verdicts", Key.NODE, 128, Kept.newest(), Compression.NONE),
    /** Changelog of the health-service. */
    HEALTH_STATE("health-state", Key.NODE, 32, Kept.newest(), Compression.ZSTD),
    /** Every decision, also those held back. */
    DECISIONS("decisions", Key.NODE, 32, Kept.forDays(365), Compression.NONE),
    /** Changelog of the inventory-service and everybody's current view. */
    NODES("nodes", Key.NODE, 32, Kept.newest(), Compression.ZSTD),
    /** Every changed view, and a keyframe of each node every 2 h. */
    NODES_HISTORY("nodes-history", Key.NODE, 32, Kept.forDays(90), Compression.GZIP),
    /** Settings of a node chosen by Node labels. */
    SETTINGS("settings", Key.NODE, 32, Kept.newest(), Compression.NONE),
    /** Changelog of the allocation-service: open intervals. */
    HOLDINGS("holdings", Key.NODE, 32, Kept.newest(), Compression.ZSTD),
    /** Closed intervals and adjustments. */
    USAGE("usage", Key.NODE, 32, Kept.forDays(400), Compression.NONE),
    /** Sums of a day. */
    USAGE_DAILY("usage-daily", Key.DAY, 32, Kept.newest(), Compression.NONE),
    /** Empty; its group assignment names the active replica of a service. */
    ELECTION("election", Key.NONE, 1, Kept.forDays(1), Compression.NONE),
    /** What could not be read, byte for byte. */
    DEADLETTER("deadletter", Key.AS_FOUND, 32, Kept.forDays(30), Compression.NONE);

    /** What the key of a record is. */
    public enum Key {
        /** The node name. */
        NODE,
        /** {@code <day>/<namespace>/<model>/<quality>}. */
        DAY,
        /** Whatever the broken record had. */
        AS_FOUND,
        /** There are no records. */
        NONE
    }

    /**
     * How the log is compressed: gzip where others read and it pays, zstd on our own changelogs. The broker is told,
     * since a producer knows one compression only and a transaction one producer.
     */
    public enum Compression {
        /** Not at all. */
        NONE,
        /** Every client library reads it. */
        GZIP,
        /** Smaller and faster; for logs that only we read. */
        ZSTD;

        /** The name that Kafka knows. */
        public String kafkaName() {
            return switch (this) {
                case NONE -> "none";
                case GZIP -> "gzip";
                case ZSTD -> "zstd";
            };
        }
    }

    /** What the broker keeps of a topic. */
    public sealed interface Kept {
        /** Everything, for a while. */
        record DeleteAfter(Duration age) implements Kept {}

        /** The newest record of each key; a tombstone stays for 7 d. */
        record NewestOfEachKey() implements Kept {}

        private static Kept forDays(int days) {
            return new DeleteAfter(Duration.ofDays(days));
        }

        private static Kept deleteAfter(Duration age) {
            return new DeleteAfter(age);
        }

        private static Kept newest() {
            return new NewestOfEachKey();
        }
    }

    private final String suffix;
    private final Key key;
    private final int partitions;
    private final Kept kept;
    private final Compression compression;

    Topic(String suffix, Key key, int partitions, Kept kept, Compression compression) {
        this.suffix = suffix;
        this.key = key;
        this.partitions = partitions;
        this.kept = kept;
        this.compression = compression;
    }

    /** The name without the prefix; also the topic's name inside event ids and applied marks. */
    public String suffix() {
        return suffix;
    }

    /** What its keys are. */
    public Key key() {
        return key;
    }

    /** Number of partitions, fixed for the life of a prefix. */
    public int partitions() {
        return partitions;
    }

    /** What the broker keeps. */
    public Kept kept() {
        return kept;
    }

    /** How the log is compressed. */
    public Compression compression() {
        return compression;
    }

    /** True when only the newest record of a key is kept. */
    public boolean compacted() {
        return kept instanceof Kept.NewestOfEachKey;
    }

    /** The settings that the broker holds for this topic, by Kafka's names. */
    public Map<String, String> brokerSettings() {
        var settings = new LinkedHashMap<String, String>();
        settings.put("message.timestamp.type", "LogAppendTime");
        settings.put("compression.type", compression == Compression.NONE ? "producer" : compression.kafkaName());
        if (this == DEADLETTER) {
            // A record of the default greatest size gets headers there that say where it was found.
            settings.put("max.message.bytes", Integer.toString(2 * 1024 * 1024));
        }
        switch (kept) {
            case Kept.DeleteAfter(Duration age) -> {
                settings.put("cleanup.policy", "delete");
                settings.put("retention.ms", Long.toString(age.toMillis()));
            }
            case Kept.NewestOfEachKey() -> {
                settings.put("cleanup.policy", "compact");
                settings.put("segment.bytes", Integer.toString(32 * 1024 * 1024));
                settings.put("segment.ms", Long.toString(Duration.ofHours(1).toMillis()));
                settings.put("min.cleanable.dirty.ratio", "0.1");
                settings.put(
                        "max.compaction.lag.ms",
                        Long.toString(Duration.ofHours(1).toMillis()));
                settings.put(
                        "delete.retention.ms", Long.toString(Duration.ofDays(7).toMillis()));
            }
        }
        return settings;
    }
}
