package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.tls.CertificateSettings;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HealthConfigTest {
    private static HealthConfig of(Map<String, String> more) {
        return HealthConfig.of(Environment.read(more, HealthConfig.settings()));
    }

    @Test
    void unsetVariablesHaveDefaults() {
        assertThat(of(Map.of()))
                .isEqualTo(new HealthConfig(
                        new HealthConfig.Http("0.0.0.0", 8080, new CertificateSettings.None()),
                        ReadsMode.KUBERNETES,
                        Duration.ofMinutes(10),
                        Duration.ofMinutes(5),
                        "nvidia",
                        Mode.OBSERVE,
                        "standard",
                        ""));
    }

    @Test
    void everyVariableIsRead() {
        assertThat(of(Map.of(
                        "GPUFLEET_HTTP_HOST", "127.0.0.1",
                        "GPUFLEET_HTTP_PORT", "0",
                        "GPUFLEET_MAX_ACTION_AGE", "1m",
                        "GPUFLEET_RECONCILE_INTERVAL", "30s",
                        "GPUFLEET_POLICY", "/etc/policy.yaml",
                        "GPUFLEET_MODE", "enforce",
                        "GPUFLEET_POOLS", "/etc/pools.yaml",
                        "GPUFLEET_SHADOW_POLICY", "aggressive")))
                .isEqualTo(new HealthConfig(
                        new HealthConfig.Http("127.0.0.1", 0, new CertificateSettings.None()),
                        ReadsMode.OFF,
                        Duration.ofMinutes(1),
                        Duration.ofSeconds(30),
                        "/etc/policy.yaml",
                        Mode.ENFORCE,
                        "/etc/pools.yaml",
                        "aggressive"));
    }

    @Test
    void unusableValuesAreRejected() {
        assertThatThrownBy(() -> of(Map.of("GPUFLEET_MODE", "Enforce")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("GPUFLEET_MODE='Enforce' takes observe or enforce");
        assertThatThrownBy(() -> of(Map.of("GPUFLEET_READS", "off")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("kubernetes, since GPUFLEET_HTTP_HOST is no loopback address");
        assertThatThrownBy(() -> of(Map.of("GPUFLEET_RECONCILE_INTERVAL", "10ms")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_RECONCILE_INTERVAL");
        assertThatThrownBy(() -> of(Map.of("GPUFLEET_MAX_ACTION_AGE", "0s")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_MAX_ACTION_AGE");
    }
}
