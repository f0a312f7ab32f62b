package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class KafkaSettingsTest {
    @Test
    void wrongValueIsReportedWithTheSettingThatHasIt(@TempDir Path dir) throws IOException {
        assertThatThrownBy(() -> KafkaSettings.clients("broker", ""))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContainingAll("GPUFLEET_KAFKA: 'broker' is no Kafka server", "host:port");

        Path file = Files.writeString(dir.resolve("client.properties"), "acks=0\n");
        assertThatThrownBy(() -> KafkaSettings.clients("broker:9092", file.toString()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContainingAll("GPUFLEET_KAFKA_CONFIG: ", file.toString(), "'acks' may not be set here");
    }
}
