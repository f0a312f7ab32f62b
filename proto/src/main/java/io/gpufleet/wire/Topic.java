package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;

/**
 * Catalogue of topics with their partitions, retention and compression. The full name is the prefix of the fleet
 * (default {@code gpu.}) followed by {@link #suffix()}; see {@link Topics}.
 */
public enum Topic {
    /** Devices and resources of a node. */
    INVENTORY("inventory", Key.NODE, 32, Retention.forDays(90), Compression.GZIP),
    /** Faults observed and cleared, and the health reported to the kubelet. */
    HEALTH("health", Key.NODE, 32, Retention.forDays(90), Compression.NONE),
    /** Answered Allocate calls, and holders of devices. */
    ALLOCATION("allocation", Key.NODE, 32, Retention.forDays(90), Compression.NONE),
    /** Samples every 10 s; also the heartbeat. */
    TELEMETRY("telemetry", Key.NODE, 32, Retention.deleteAfter(Duration.ofHours(6)), Compression.GZIP),
    /** Operators' commands and observations of Kubernetes. */
    SIGNALS("signals", Key.NODE, 32, Retention.forDays(365), Compression.NONE),
    /** Whether a node and its devices are trusted. More partitions, since each daemon reads exactly one. */
    VERDICTS("verdicts", Key.NODE, 128, Retention.compacted(), Compression.NONE),
    /** Changelog of the health-service. */
    HEALTH_STATE("health-state", Key.NODE, 32, Retention.compacted(), Compression.ZSTD),
    /** Every decision, including those held back. */
    DECISIONS("decisions", Key.NODE, 32, Retention.forDays(365), Compression.NONE),
    /** Changelog of the inventory-service and public current view of each node. */
    NODES("nodes", Key.NODE, 32, Retention.compacted(), Compression.GZIP),
    /** Every changed view, and a snapshot of each node every 2 h. */
    NODES_HISTORY("nodes-history", Key.NODE, 32, Retention.forDays(90), Compression.GZIP),
    /** Settings of a node chosen by Node labels. */
    SETTINGS("settings", Key.NODE, 32, Retention.compacted(), Compression.NONE),
    /** Changelog of the allocation-service: open intervals. */
    HOLDINGS("holdings", Key.NODE, 32, Retention.compacted(), Compression.ZSTD),
    /** Closed intervals and adjustments. */
    USAGE("usage", Key.NODE, 32, Retention.forDays(400), Compression.NONE),
    /** Daily sums of usage. */
    USAGE_DAILY("usage-daily", Key.DAY, 32, Retention.compacted(), Compression.NONE),
    /** Empty; the assignment of its partition names the active replica of a service. */
    ELECTION("election", Key.NONE, 1, Retention.forDays(1), Compression.NONE),
    /** Records that could not be decoded or applied, byte for byte. */
    DEADLETTER("deadletter", Key.AS_FOUND, 32, Retention.forDays(30), Compression.NONE);

    /** Key of the records. */
    public enum Key {
        /** The node name. */
        NODE,
        /** {@code <day>/<namespace>/<model>/<quality>}. */
        DAY,
        /** The key of the record found. */
        AS_FOUND,
        /** The topic has no records. */
        NONE
    }

    /**
     * Compression of the log: gzip on large topics that others read, zstd on private changelogs. It is a setting of the topic,
     * since a producer has one compression only and a transaction one producer.
     */
    public enum Compression {
        /** As the producer sends it. */
        NONE,
        /** Readable by every client library. */
        GZIP,
        /** Smaller and faster; for logs that only our own services read. */
        ZSTD;

        /** Returns Kafka's name of the compression. */
        public String kafkaName() {
            return switch (this) {
                case NONE -> "none";
                case GZIP -> "gzip";
                case ZSTD -> "zstd";
            };
        }
    }

    /** Retention of a topic. */
    public sealed interface Retention {
        /** All records up to an age. */
        record DeleteAfter(Duration age) implements Retention {}

        /** The newest record of each key; a tombstone is kept for 7 d. */
        record Compacted() implements Retention {}

        private static Retention forDays(int days) {
            return new DeleteAfter(Duration.ofDays(days));
        }

        private static Retention deleteAfter(Duration age) {
            return new DeleteAfter(age);
        }

        private static Retention compacted() {
            return new Compacted();
        }
    }

    private final String suffix;
    private final Key key;
    private final int partitions;
    private final Retention retention;
    private final Compression compression;

    Topic(String suffix, Key key, int partitions, Retention retention, Compression compression) {
        this.suffix = suffix;
        this.key = key;
        this.partitions = partitions;
        this.retention = retention;
        this.compression = compression;
    }

    /** Returns the name without the prefix; also the topic in event ids and applied sequences. */
    public String suffix() {
        return suffix;
    }

    /** Returns the key of its records. */
    public Key key() {
        return key;
    }

    /** Returns the number of partitions, fixed for the life of a prefix. */
    public int partitions() {
        return partitions;
    }

    /** Returns the retention. */
    public Retention retention() {
        return retention;
    }

    /** Returns the compression. */
    public Compression compression() {
        return compression;
    }

    /** Largest record that the broker takes, in bytes with key and headers. */
    public int maxMessageBytes() {
        // A record of another topic gets headers in the dead letters that say where it was found.
        return this == DEADLETTER ? 2 * 1024 * 1024 : 1024 * 1024;
    }

    /** Partition of a key: Kafka's default partitioner, murmur2 of the UTF-8 bytes. */
    public int partitionOf(String key) {
        return Utils.toPositive(Utils.murmur2(key.getBytes(UTF_8))) % partitions;
    }

    /** True when only the newest record of a key is kept. */
    public boolean compacted() {
        return retention instanceof Retention.Compacted;
    }

    /** Returns the topic settings by Kafka's names. */
    public Map<String, String> brokerSettings() {
        var settings = new LinkedHashMap<String, String>();
        settings.put("message.timestamp.type", "LogAppendTime");
        settings.put("compression.type", compression == Compression.NONE ? "producer" : compression.kafkaName());
        settings.put("max.message.bytes", Integer.toString(maxMessageBytes()));
        switch (retention) {
            case Retention.DeleteAfter(Duration age) -> {
                settings.put("cleanup.policy", "delete");
                settings.put("retention.ms", Long.toString(age.toMillis()));
            }
            case Retention.Compacted() -> {
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
