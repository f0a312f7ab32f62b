package io.gpufleet.testbed.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreePortTest {
    @Test
    void portIsGivenOnce() {
        Set<Integer> given = new HashSet<>();

        for (int i = 0; i < 300; i++) {
            assertThat(given.add(FreePort.next())).isTrue();
        }
        assertThat(given).allMatch(port -> port >= FreePort.FIRST && port <= FreePort.LAST);
    }

    @Test
    void portThatAnotherJvmWasGivenIsNotGivenWhileThatJvmRuns() throws Exception {
        int wanted = FreePort.FIRST + 7;
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        PortChooserMain.class.getName(),
                        Integer.toString(wanted))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var output = other.inputReader()) {
            // Given another JVM that chose a port without listening on it
            assertThat(output.readLine()).isEqualTo("chosen");
            // When, Then
            assertThat(FreePort.choose(wanted)).isFalse();
        } finally {
            other.destroyForcibly().waitFor();
        }
        assertThat(FreePort.choose(wanted)).isTrue();
    }
}
