package io.gpufleet.health.config;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * What the environment says to the health-service.
 *
 * @param cluster name of the cluster; part of every event's source
 * @param bootstrap Kafka's bootstrap servers
 * @param topicPrefix before every topic name
 * @param instance name of this replica, stable over restarts
 * @param http where its HTTP face listens
 * @param sessionTimeout how long a dead active replica keeps its role
 * @param maxActionAge news older than this changes the record and takes nothing out of service
 * @param reconcileInterval how often every Node is looked at without a cause
 * @param policy a pack that comes with the program, or a file
 */
public record HealthConfig(
        String cluster,
        String bootstrap,
        String topicPrefix,
        String instance,
        Http http,
        Duration sessionTimeout,
        Duration maxActionAge,
        Duration reconcileInterval,
        String policy) {
    private static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(1);

    /** Host and port; port 0 takes a free one. */
    public record Http(String host, int port) {}

    /** Refuses what could not work. */
    public HealthConfig {
        if (reconcileInterval.compareTo(SHORTEST_INTERVAL) < 0) {
            throw new ConfigurationException("GPUFLEET_RECONCILE_INTERVAL='" + reconcileInterval
                    + "' is not usable: it takes a duration of at least 1s");
        }
        if (maxActionAge.isZero()) {
            throw new ConfigurationException(
                    "GPUFLEET_MAX_ACTION_AGE is zero, so that nothing would ever be acted upon: it takes a duration"
                            + " such as 10m");
        }
    }

    /** Every variable that the program understands. */
    public static List<Setting> settings() {
        return List.of(
                Setting.required("GPUFLEET_CLUSTER", "name of this cluster, the same for every program in it"),
                Setting.required("GPUFLEET_KAFKA", "Kafka's bootstrap servers, host:port,host:port"),
                Setting.optional("GPUFLEET_TOPIC_PREFIX", "gpu.", "what every topic name begins with"),
                Setting.optional("GPUFLEET_INSTANCE", "health-service-0", "name of this replica, stable over restarts"),
                Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address of the HTTP face"),
                Setting.optional("GPUFLEET_HTTP_PORT", "8080", "port of the HTTP face; 0 takes a free one"),
                Setting.optional(
                        "GPUFLEET_GRPC_PORT", "9090", "understood by every service; this one has no gRPC face"),
                Setting.optional("GPUFLEET_SESSION_TIMEOUT", "6s", "how long a dead active replica keeps its role"),
                Setting.optional("GPUFLEET_MAX_ACTION_AGE", "10m", "news older than this takes nothing out of service"),
                Setting.optional(
                        "GPUFLEET_RECONCILE_INTERVAL", "5m", "how often every Node is looked at without a cause"),
                Setting.optional("GPUFLEET_POLICY", "nvidia", "policy pack: nvidia, or the path of a YAML file"),
                Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
                Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO, DEBUG or TRACE"));
    }

    /** Reads and checks. */
    public static HealthConfig of(Environment environment) {
        return new HealthConfig(
                environment.text("GPUFLEET_CLUSTER"),
                environment.text("GPUFLEET_KAFKA"),
                environment.text("GPUFLEET_TOPIC_PREFIX"),
                environment.text("GPUFLEET_INSTANCE"),
                new Http(environment.text("GPUFLEET_HTTP_HOST"), environment.integer("GPUFLEET_HTTP_PORT", 0, 65535)),
                environment.duration("GPUFLEET_SESSION_TIMEOUT"),
                environment.duration("GPUFLEET_MAX_ACTION_AGE"),
                environment.duration("GPUFLEET_RECONCILE_INTERVAL"),
                environment.text("GPUFLEET_POLICY"));
    }
}
