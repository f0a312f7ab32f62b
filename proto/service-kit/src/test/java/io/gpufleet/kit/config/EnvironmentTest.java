package io.gpufleet.kit.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@NullMarked
class EnvironmentTest {
    private static final List<Setting> SETTINGS = List.of(
            Setting.required("GPUFLEET_CLUSTER", "name of the cluster"),
            Setting.optional("GPUFLEET_HTTP_PORT", "8080", "port of the HTTP server"),
            Setting.optional("GPUFLEET_SESSION_TIMEOUT", "6s", "how long a dead replica keeps its role"),
            Setting.optional("GPUFLEET_VERDICTS", "obey", "obey or record"),
            Setting.optional("GPUFLEET_RECORD", "false", "only record"),
            Setting.optional("GPUFLEET_STATE_DIR", "/var/lib/gpufleet", "directory of the state"),
            Setting.optional("GPUFLEET_NVML_LIBRARY", "", "path of the library"));

    @Test
    void unknownNameIsRefusedWithTheClosestMatch() {
        assertThatThrownBy(() -> read(Map.of("GPUFLEET_HTPP_PORT", "9")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("GPUFLEET_HTPP_PORT=9 is not a setting of this program; did you mean GPUFLEET_HTTP_PORT?"
                        + " --help lists all");
    }

    @Test
    void variablesOfOthersAreIgnored() {
        assertThat(read(Map.of("KUBECONFIG", "/x", "PATH", "/bin")).text("GPUFLEET_CLUSTER"))
                .isEqualTo("c1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  "})
    void requiredSettingWithoutAValueStopsTheStart(String blank) {
        assertThatThrownBy(() -> Environment.read(Map.of("GPUFLEET_CLUSTER", blank), SETTINGS))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("GPUFLEET_CLUSTER is not set: name of the cluster");
    }

    @Test
    void defaultsApplyWhereNothingIsSet() {
        Environment environment = read(Map.of("GPUFLEET_HTTP_PORT", " "));

        assertThat(environment.integer("GPUFLEET_HTTP_PORT", 0, 65535)).isEqualTo(8080);
        assertThat(environment.duration("GPUFLEET_SESSION_TIMEOUT")).isEqualTo(Duration.ofSeconds(6));
        assertThat(environment.choice("GPUFLEET_VERDICTS", "obey", "record")).isEqualTo("obey");
        assertThat(environment.flag("GPUFLEET_RECORD")).isFalse();
        assertThat(environment.path("GPUFLEET_STATE_DIR")).isEqualTo(Path.of("/var/lib/gpufleet"));
        assertThat(environment.text("GPUFLEET_NVML_LIBRARY")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "-1", "65536", "80.5", "99999999999"})
    void numberOutOfBoundsIsRefusedWithTheBounds(String value) {
        Environment environment = read(Map.of("GPUFLEET_HTTP_PORT", value));

        assertThatThrownBy(() -> environment.integer("GPUFLEET_HTTP_PORT", 0, 65535))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(
                        "GPUFLEET_HTTP_PORT='" + value + "' is not usable: it takes a whole number from 0 to 65535");
    }

    @ParameterizedTest
    @CsvSource({"500ms, PT0.5S", "30s, PT30S", "5m, PT5M", "6h, PT6H", "7d, PT168H", "PT1M30S, PT1M30S", "0s, PT0S"})
    void durationIsReadInEveryForm(String text, Duration duration) {
        assertThat(read(Map.of("GPUFLEET_SESSION_TIMEOUT", text)).duration("GPUFLEET_SESSION_TIMEOUT"))
                .isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"6", "6 s", "-6s", "PT-6S", "soon", "6w", "99999999999s"})
    void malformedDurationIsRefusedWithExamples(String text) {
        Environment environment = read(Map.of("GPUFLEET_SESSION_TIMEOUT", text));

        assertThatThrownBy(() -> environment.duration("GPUFLEET_SESSION_TIMEOUT"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("'" + text + "' is not usable: it takes a duration such as 500ms, 30s");
    }

    @Test
    void valueOutsideTheClosedSetIsRefusedWithTheSet() {
        Environment environment = read(Map.of("GPUFLEET_VERDICTS", "ignore"));

        assertThatThrownBy(() -> environment.choice("GPUFLEET_VERDICTS", "obey", "record"))
                .hasMessage("GPUFLEET_VERDICTS='ignore' is not usable: it takes one of obey, record");
    }

    @Test
    void undeclaredSettingCannotBeRead() {
        assertThatThrownBy(() -> read(Map.of()).text("GPUFLEET_NODE")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void helpListsEverySettingWithItsDefault() {
        assertThat(Environment.help("gpufleet-test", SETTINGS))
                .startsWith("gpufleet-test is configured by its environment:")
                .contains("GPUFLEET_CLUSTER          name of the cluster (required)")
                .contains("GPUFLEET_HTTP_PORT        port of the HTTP server [8080]")
                .contains("GPUFLEET_NVML_LIBRARY     path of the library\n");
    }

    private static Environment read(Map<String, String> variables) {
        var all = new HashMap<>(variables);
        all.put("GPUFLEET_CLUSTER", "c1");
        return Environment.read(all, SETTINGS);
    }
}
