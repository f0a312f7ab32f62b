package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HealthConfigTest {
    private static HealthConfig of(Map<String, String> more) {
        var environment = new HashMap<>(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_KAFKA", "broker:9092"));
        environment.putAll(more);
        return HealthConfig.of(Environment.read(environment, HealthConfig.settings()));
    }

    @Test
    void unsetVariablesHaveDefaults() {
        assertThat(of(Map.of()))
                .isEqualTo(new HealthConfig(
                        new HealthConfig.Kafka("broker:9092", "c1", "gpu.", "health-service-0", Duration.ofSeconds(6)),
                        new HealthConfig.Http("0.0.0.0", 8080),
                        Duration.ofMinutes(10),
                        Duration.ofMinutes(5),
                        "nvidia"));
    }

    @Test
    void everyVariableIsRead() {
        assertThat(of(Map.of(
                        "GPUFLEET_TOPIC_PREFIX", "lab.",
                        "GPUFLEET_INSTANCE", "health-service-1",
                        "GPUFLEET_HTTP_HOST", "127.0.0.1",
                        "GPUFLEET_HTTP_PORT", "0",
                        "GPUFLEET_SESSION_TIMEOUT", "2s",
                        "GPUFLEET_MAX_ACTION_AGE", "1m",
                        "GPUFLEET_RECONCILE_INTERVAL", "30s",
                        "GPUFLEET_POLICY", "/etc/policy.yaml")))
                .isEqualTo(new HealthConfig(
                        new HealthConfig.Kafka("broker:9092", "c1", "lab.", "health-service-1", Duration.ofSeconds(2)),
                        new HealthConfig.Http("127.0.0.1", 0),
                        Duration.ofMinutes(1),
                        Duration.ofSeconds(30),
                        "/etc/policy.yaml"));
    }

    @Test
    void unusableValuesAreRejected() {
        assertThatThrownBy(() -> of(Map.of("GPUFLEET_RECONCILE_INTERVAL", "10ms")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_RECONCILE_INTERVAL");
        assertThatThrownBy(() -> of(Map.of("GPUFLEET_MAX_ACTION_AGE", "0s")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_MAX_ACTION_AGE");
    }
}
