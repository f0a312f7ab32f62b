package io.gpufleet.inventory.config;

import io.gpufleet.inventory.model.LabelGroup;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How one replica is configured.
 *
 * @param cluster name of the cluster in every event
 * @param kafka bootstrap servers
 * @param topicPrefix what stands before every topic
 * @param instance name of this replica, stable over restarts
 * @param host address that HTTP and gRPC are served on
 * @param httpPort port of HTTP
 * @param grpcPort port of gRPC
 * @param sessionTimeout how long a dead active replica keeps its role
 * @param labels labels that are switched on
 */
public record InventoryConfig(
        String cluster,
        String kafka,
        String topicPrefix,
        String instance,
        String host,
        int httpPort,
        int grpcPort,
        Duration sessionTimeout,
        Set<LabelGroup> labels) {
    private static final String ALL_LABELS =
            Arrays.stream(LabelGroup.values()).map(LabelGroup::word).collect(Collectors.joining(","));

    /** What the program understands. */
    public static final List<Setting> SETTINGS = List.of(
            Setting.required("GPUFLEET_CLUSTER", "name of the cluster, alike in every program of the fleet"),
            Setting.required("GPUFLEET_KAFKA", "Kafka's bootstrap servers, host:port,…"),
            Setting.optional("GPUFLEET_TOPIC_PREFIX", "gpu.", "what stands before every topic name"),
            Setting.optional("GPUFLEET_INSTANCE", "inventory-service-0", "name of this replica, stable over restarts"),
            Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address that HTTP and gRPC are served on"),
            Setting.optional("GPUFLEET_HTTP_PORT", "8080", "port of REST, probes and metrics; 0 takes a free one"),
            Setting.optional("GPUFLEET_GRPC_PORT", "9090", "port of gRPC; 0 takes a free one"),
            Setting.optional("GPUFLEET_SESSION_TIMEOUT", "6s", "how long a dead active replica keeps its role"),
            Setting.optional("GPUFLEET_LABELS", ALL_LABELS, "groups of Node labels to write; none writes no label"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO or DEBUG"));

    /** Copies the set. */
    public InventoryConfig {
        labels = Set.copyOf(labels);
    }

    /** Reads the environment; a bad value is answered with what may stand there. */
    public static InventoryConfig from(Environment environment) {
        return new InventoryConfig(
                environment.text("GPUFLEET_CLUSTER"),
                environment.text("GPUFLEET_KAFKA"),
                environment.text("GPUFLEET_TOPIC_PREFIX"),
                environment.text("GPUFLEET_INSTANCE"),
                environment.text("GPUFLEET_HTTP_HOST"),
                environment.integer("GPUFLEET_HTTP_PORT", 0, 65_535),
                environment.integer("GPUFLEET_GRPC_PORT", 0, 65_535),
                environment.duration("GPUFLEET_SESSION_TIMEOUT"),
                labels(environment));
    }

    private static Set<LabelGroup> labels(Environment environment) {
        String text = environment.text("GPUFLEET_LABELS");
        var groups = EnumSet.noneOf(LabelGroup.class);
        if (text.equals("none")) {
            return groups;
        }
        for (String word : text.split(",", -1)) {
            groups.add(LabelGroup.byWord(word.strip())
                    .orElseThrow(() -> environment.wrong("GPUFLEET_LABELS", "none, or some of " + ALL_LABELS)));
        }
        return groups;
    }
}
