package io.gpufleet.runtime.bus;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.runtime.engine.EngineConfig;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/**
 * How a central service reaches the bus.
 *
 * @param cluster name of the cluster; part of every event's source
 * @param instance name of this replica, stable over restarts
 * @param kafka the clients of the broker
 * @param topics the topics of this prefix
 * @param sessionTimeout how long a dead leader keeps its role
 * @param topicsWait how long a start waits for missing topics
 */
public record BusConfig(
        String cluster,
        String instance,
        KafkaClients kafka,
        Topics topics,
        Duration sessionTimeout,
        Duration topicsWait) {
    /** The variables that {@link #from} reads. */
    public static List<Setting> settings(String defaultInstance) {
        return List.of(
                Setting.required("GPUFLEET_CLUSTER", "name of this cluster, the same for every program in it"),
                Setting.required("GPUFLEET_KAFKA", "Kafka's bootstrap servers, host:port,host:port"),
                Setting.optional(
                        "GPUFLEET_KAFKA_CONFIG",
                        "",
                        "Kafka client properties file with security.*, sasl.* and ssl.* settings"),
                Setting.optional("GPUFLEET_TOPIC_PREFIX", "gpu.", "what every topic name begins with"),
                Setting.optional(
                        "GPUFLEET_INSTANCE",
                        defaultInstance,
                        "name of this replica with its service in it, stable over restarts"),
                Setting.optional("GPUFLEET_SESSION_TIMEOUT", "6s", "how long a dead leader keeps its role"),
                Setting.optional(
                        "GPUFLEET_TOPICS_WAIT",
                        "0s",
                        "how long a start waits for missing topics, where 'topics apply' runs at the same time"));
    }

    /** Reads and checks. */
    public static BusConfig from(Environment environment) {
        return new BusConfig(
                name(environment, "GPUFLEET_CLUSTER"),
                name(environment, "GPUFLEET_INSTANCE"),
                kafka(environment),
                topics(environment.text("GPUFLEET_TOPIC_PREFIX")),
                environment.duration("GPUFLEET_SESSION_TIMEOUT"),
                environment.duration("GPUFLEET_TOPICS_WAIT"));
    }

    /** Readers take the names of cluster and replica from the source of an event. */
    private static String name(Environment environment, String setting) {
        String name = environment.text(setting);
        if (!EventSource.isName(name)) {
            throw environment.invalid(setting, EventSource.NAME_FORM);
        }
        return name;
    }

    private static KafkaClients kafka(Environment environment) {
        String file = environment.text("GPUFLEET_KAFKA_CONFIG");
        try {
            return KafkaClients.of(environment.text("GPUFLEET_KAFKA"), file);
        } catch (IllegalArgumentException unusable) {
            String setting =
                    file.isEmpty() || !String.valueOf(unusable.getMessage()).startsWith(file)
                            ? "GPUFLEET_KAFKA"
                            : "GPUFLEET_KAFKA_CONFIG";
            throw new ConfigurationException(setting + ": " + unusable.getMessage());
        }
    }

    private static Topics topics(String prefix) {
        try {
            return new Topics(prefix);
        } catch (IllegalArgumentException unusable) {
            throw new ConfigurationException("GPUFLEET_TOPIC_PREFIX: " + unusable.getMessage());
        }
    }

    /** The codec of this cluster and prefix. */
    public Codec codec() {
        return new Codec(cluster, topics);
    }

    /** This replica as the source of events. */
    public EventSource.Service source() {
        return new EventSource.Service(cluster, instance);
    }

    /**
     * Where this service's projection runs. What a replica writes is refused when its name is not one of its service.
     *
     * @param further topics that it uses beside its projection
     */
    public EngineConfig engine(String service, String grpcAddress, Clock clock, FurtherTopics further) {
        if (!source().isReplicaOf(service)) {
            throw new ConfigurationException("GPUFLEET_INSTANCE '" + instance + "' does not contain '" + service
                    + "': readers know the writer by it, for example '" + service + "-0'");
        }
        var settings = new ProjectionSettings(service, instance, grpcAddress, sessionTimeout);
        return new EngineConfig(settings, codec(), kafka, new BrokerClock(clock, System::nanoTime), further);
    }
}
