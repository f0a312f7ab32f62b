package io.gpufleet.nodedaemon.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DaemonConfigTest {
    private static final Map<String, String> REQUIRED =
            Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_KAFKA", "broker:9092", "GPUFLEET_NODE", "gpu-node-0");

    private static DaemonConfig with(Map<String, String> more) {
        var environment = new HashMap<>(REQUIRED);
        environment.putAll(more);
        return DaemonConfig.from(Environment.read(environment, DaemonConfig.SETTINGS));
    }

    @Test
    void defaultsAreThoseOfAGpuNode() {
        DaemonConfig config = with(Map.of());

        assertThat(config.devices().source()).isEqualTo("nvml");
        assertThat(config.devices().faultDirectory()).isEmpty();
        assertThat(config.kubelet().devicePluginDirectory()).isEqualTo(Path.of("/var/lib/kubelet/device-plugins"));
        assertThat(config.kubelet().deviceListStrategies()).isEmpty();
        assertThat(config.state().outboxBytes()).isEqualTo(64 * 1024 * 1024);
        assertThat(config.timing().recoveryDwell()).isEqualTo(Duration.ofMinutes(5));
        assertThat(config.kafka().applyVerdicts()).isTrue();
        assertThat(config.http().port()).isEqualTo(9400);
    }

    @Test
    void everySettingIsRead() {
        DaemonConfig config = with(Map.of(
                "GPUFLEET_DEVICES", "simulated:2xA100",
                "GPUFLEET_SIMULATION_DIR", "/tmp/sim",
                "GPUFLEET_DEVICE_LIST_STRATEGY", "envvar,host-mounts",
                "GPUFLEET_DRIVER_ROOT", "/run/driver",
                "GPUFLEET_RECOVERY_DWELL", "3s",
                "GPUFLEET_VERDICTS", "record",
                "GPUFLEET_HTTP_PORT", "0"));

        assertThat(config.devices().faultDirectory()).contains(Path.of("/tmp/sim"));
        assertThat(config.kubelet().deviceListStrategies()).containsExactlyInAnyOrder("envvar", "host-mounts");
        assertThat(config.timing().recoveryDwell()).isEqualTo(Duration.ofSeconds(3));
        assertThat(config.kafka().applyVerdicts()).isFalse();
        assertThat(config.http().port()).isZero();
    }

    @Test
    void registrationFollowsTheOperatorsSettings() {
        assertThat(with(Map.of()).kubelet().registration()).isEqualTo(RegistrationSettings.DEFAULT);
        assertThat(with(Map.of(
                                "GPUFLEET_DEVICE_PLUGIN", "off",
                                "GPUFLEET_KUBELET_REGISTRATION", "plugins-registry"))
                        .kubelet()
                        .registration())
                .isEqualTo(new RegistrationSettings(
                        RegistrationSettings.RegistrationMode.OFF,
                        RegistrationSettings.RegistrationTransport.PLUGINS_REGISTRY));
    }

    @ParameterizedTest
    @CsvSource({
        "GPUFLEET_NODE, Bad_Name",
        "GPUFLEET_CLUSTER, a/b",
        "GPUFLEET_TOPIC_PREFIX, gpu/",
        "GPUFLEET_DEVICE_LIST_STRATEGY, cdi",
        "GPUFLEET_RECOVERY_DWELL, soon",
        "GPUFLEET_TELEMETRY_INTERVAL, 1ms",
        "GPUFLEET_OUTBOX_BYTES, 1",
        "GPUFLEET_VERDICTS, maybe",
        "GPUFLEET_HTTP_PORT, 70000",
        "GPUFLEET_LOG_LEVEL, LOUD",
        "GPUFLEET_DEVICE_PLUGIN, perhaps",
        "GPUFLEET_KUBELET_REGISTRATION, both"
    })
    void invalidValueIsRejectedWithTheValidOnes(String name, String value) {
        assertThatThrownBy(() -> with(Map.of(name, value)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContainingAll(name, value, "it takes")
                .hasMessageNotContaining("\n");
    }
}
