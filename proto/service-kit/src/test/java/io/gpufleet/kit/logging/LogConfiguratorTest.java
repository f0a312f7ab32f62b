package io.gpufleet.kit.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

class LogConfiguratorTest {
    private final LoggerContext logging = new LoggerContext();
    private final PrintStream standardError = System.err;

    @AfterEach
    void restoreStandardError() {
        System.setErr(standardError);
        logging.stop();
    }

    @Test
    void recordIsOneLineWithKeysAndValues() {
        assertThat(line(Map.of())).isEqualTo("2026-03-01T10:00:00.000Z WARN  Engine cannot go on topic=gpu.health\n");
    }

    @Test
    void recordIsOneJsonObject() {
        assertThat(line(Map.of("GPUFLEET_LOG_FORMAT", "json")))
                .startsWith("{")
                .endsWith("}\n")
                .contains("\"message\":\"cannot go on\"", "\"topic\":\"gpu.health\"");
    }

    @Test
    void levelOfTheEnvironmentHoldsExceptForLibrariesThatLogTooMuch() {
        configure(Map.of("GPUFLEET_LOG_LEVEL", "DEBUG"));

        assertThat(logging.getLogger("io.gpufleet.health.app.Engine").getEffectiveLevel())
                .isEqualTo(Level.DEBUG);
        assertThat(logging.getLogger("org.apache.kafka.clients.NetworkClient").getEffectiveLevel())
                .isEqualTo(Level.ERROR);
        assertThat(logging.getLogger("io.netty.channel.Channel").getEffectiveLevel())
                .isEqualTo(Level.WARN);
    }

    @Test
    void configurationThatSomebodyBroughtComesFirst() {
        assertThat(new LogConfigurator(Map.of(), true).configure(logging))
                .isEqualTo(ExecutionStatus.INVOKE_NEXT_IF_ANY);
    }

    private void configure(Map<String, String> environment) {
        assertThat(new LogConfigurator(environment, false).configure(logging))
                .isEqualTo(ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY);
    }

    private String line(Map<String, String> environment) {
        var output = new ByteArrayOutputStream();
        System.setErr(new PrintStream(output, true, StandardCharsets.UTF_8));
        configure(environment);
        logging.setMDCAdapter(new LogbackMDCAdapter());
        Logger logger = logging.getLogger("io.gpufleet.runtime.Engine");
        var event = new LoggingEvent("", logger, Level.WARN, "cannot go on", null, new Object[0]);
        event.setInstant(Instant.parse("2026-03-01T10:00:00Z"));
        event.setKeyValuePairs(List.of(new KeyValuePair("topic", "gpu.health")));
        logger.callAppenders(event);
        return output.toString(StandardCharsets.UTF_8);
    }
}
