package io.gpufleet.testbed.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class ServerPropertiesTest {
    @Test
    void directoryOfAnyNameIsReadAsItWasWritten() throws IOException {
        // Given
        String directory = "/home/zwölf GPUs/\uD83D\uDE80/log";
        byte[] file = ServerProperties.escaped("log.dirs=" + directory + "\n").getBytes(StandardCharsets.UTF_8);
        // When
        var read = new Properties();
        read.load(new ByteArrayInputStream(file));
        // Then
        assertThat(read.getProperty("log.dirs")).isEqualTo(directory);
    }
}
