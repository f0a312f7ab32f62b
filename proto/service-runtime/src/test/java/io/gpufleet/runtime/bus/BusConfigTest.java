package io.gpufleet.runtime.bus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BusConfigTest {
    @ParameterizedTest
    @CsvSource({
        "GPUFLEET_CLUSTER, a/b",
        "GPUFLEET_CLUSTER, zwölf",
        "GPUFLEET_CLUSTER, two words",
        "GPUFLEET_INSTANCE, health-service-0/1"
    })
    void nameThatNoSourceOfAnEventCanHaveIsRefused(String setting, String name) {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> config(Map.of(setting, name)))
                .withMessage(setting + "='" + name
                        + "' is not usable: it takes 1 to 128 letters, digits, dots, dashes and underscores");
    }

    @Test
    void usualNamesAreTheSourceOfEvents() {
        assertThat(config(Map.of("GPUFLEET_CLUSTER", "eu-1.prod_a")).source())
                .hasToString("/clusters/eu-1.prod_a/services/health-service-0");
    }

    private static BusConfig config(Map<String, String> settings) {
        var environment = new HashMap<>(Map.of("GPUFLEET_CLUSTER", "test", "GPUFLEET_KAFKA", "127.0.0.1:9092"));
        environment.putAll(settings);
        return BusConfig.from(Environment.read(environment, BusConfig.settings("health-service-0")));
    }
}
