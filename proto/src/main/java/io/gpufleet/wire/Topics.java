package io.gpufleet.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.common.utils.Utils;

/** Topics of one fleet: the names of the catalogue with the prefix of the fleet. */
public record Topics(String prefix) {
    /** Default prefix. */
    public static final String DEFAULT_PREFIX = "gpu.";

    private static final Map<String, Topic> BY_SUFFIX =
            Arrays.stream(Topic.values()).collect(Collectors.toUnmodifiableMap(Topic::suffix, Function.identity()));

    /** Refuses a prefix that Kafka does not accept in a topic name. */
    public Topics {
        if (!prefix.matches("[a-zA-Z0-9._-]{1,64}")) {
            throw new IllegalArgumentException("topic prefix '" + prefix
                    + "' is not usable: 1 to 64 letters, digits, dots, dashes and underscores, for example 'gpu.'");
        }
    }

    /** Returns the full name of a topic. */
    public String name(Topic topic) {
        return prefix + topic.suffix();
    }

    /** Finds the topic of this fleet with the full name. */
    public Optional<Topic> byName(String name) {
        return name.startsWith(prefix) ? bySuffix(name.substring(prefix.length())) : Optional.empty();
    }

    /** Finds the topic with the suffix. */
    public static Optional<Topic> bySuffix(String suffix) {
        return Optional.ofNullable(BY_SUFFIX.get(suffix));
    }

    /** Returns the partition of a key as computed by Kafka's default partitioner. */
    public static int partition(Topic topic, String key) {
        return Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % topic.partitions();
    }
}
