package io.gpufleet.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.apache.kafka.common.utils.Utils;

/** The topics of one fleet on one Kafka: the catalogue under a prefix. */
public record Topics(String prefix) {
    /** The prefix unless another is configured. */
    public static final String DEFAULT_PREFIX = "gpu.";

    /** Refuses what Kafka would refuse as part of a topic name. */
    public Topics {
        if (!prefix.matches("[a-zA-Z0-9._-]{1,64}")) {
            throw new IllegalArgumentException("topic prefix '" + prefix
                    + "' is not usable: 1 to 64 letters, digits, dots, dashes and underscores, for example 'gpu.'");
        }
    }

    /** The full name of a topic. */
    public String name(Topic topic) {
        return prefix + topic.suffix();
    }

    /** The topic of this fleet that has the full name. */
    public Optional<Topic> byName(String name) {
        return name.startsWith(prefix) ? bySuffix(name.substring(prefix.length())) : Optional.empty();
    }

    /** The topic with the suffix. */
    public static Optional<Topic> bySuffix(String suffix) {
        return Arrays.stream(Topic.values())
                .filter(topic -> topic.suffix().equals(suffix))
                .findFirst();
    }

    /** The partition of a key, as Kafka's default partitioner and every client library compute it. */
    public static int partition(Topic topic, String key) {
        return Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % topic.partitions();
    }
}
