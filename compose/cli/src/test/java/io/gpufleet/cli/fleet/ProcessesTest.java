package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessesTest {
    @Test
    void processIsFoundByIdAndStartTime() {
        // Given
        ProcessIdentity mine = ProcessIdentity.of(ProcessHandle.current());
        // Then
        assertThat(mine.find()).isPresent();
        assertThat(mine.matches(mine.startMillis() + 1000)).isTrue();
        assertThat(new ProcessIdentity(mine.pid(), mine.startMillis() - 60_000).find())
                .isEmpty();
    }

    @Test
    void processThatIgnoresSigtermIsKilled() throws IOException {
        // Given
        Process polite = new ProcessBuilder("sleep", "600").start();
        Process stubborn =
                new ProcessBuilder("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done").start();
        assertThat(stubborn.inputReader().readLine()).isEqualTo("ready");
        // When
        Processes.terminate(List.of(polite.toHandle(), stubborn.toHandle()), Duration.ofMillis(500));
        // Then
        assertThat(polite.onExit()).succeedsWithin(Duration.ofSeconds(5));
        assertThat(stubborn.onExit()).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    void memoryOfRunningProcessIsReported() {
        assertThat(Processes.residentBytes(ProcessHandle.current().pid()).orElseThrow())
                .isGreaterThan(1024 * 1024);
        assertThat(Processes.peakResidentBytes(ProcessHandle.current().pid()).orElseThrow())
                .isGreaterThan(16 << 20);
        assertThat(Processes.residentBytes(Long.MAX_VALUE)).isEmpty();
    }
}
