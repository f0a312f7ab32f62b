package io.gpufleet.bench.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PluginProcessTest {
    @TempDir
    private Path directory;

    /** A benchmark that has started a plugin and prints its process id. */
    static final class StartedBenchmark {
        private StartedBenchmark() {}

        public static void main(String[] arguments) throws InterruptedException {
            var plugin = new MeasuredPlugin.OtherPlugin("sleep 1000");
            PluginProcesses.deleteAtEnd(Path.of(arguments[1]));
            var process = new PluginProcess(plugin, Map.of(), Path.of(arguments[0]));
            System.out.println(process.pid());
            process.runFor(Duration.ofMinutes(10));
        }
    }

    @Test
    void pluginAndItsSocketsEndWithABenchmarkThatIsEndedBySigterm() throws IOException, InterruptedException {
        // Given
        Path sockets = Files.createDirectory(directory.resolve("sockets"));
        Files.createFile(sockets.resolve("kubelet.sock"));
        Process benchmark = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        StartedBenchmark.class.getName(),
                        directory.resolve("plugin.log").toString(),
                        sockets.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        long plugin = Long.parseLong(benchmark.inputReader().readLine());
        assertThat(ProcessHandle.of(plugin)).isPresent();

        try {
            // When
            benchmark.destroy();
            benchmark.waitFor();

            // Then
            await().until(() ->
                    ProcessHandle.of(plugin).filter(ProcessHandle::isAlive).isEmpty());
            assertThat(sockets).doesNotExist();
        } finally {
            benchmark.destroyForcibly();
            ProcessHandle.of(plugin).ifPresent(ProcessHandle::destroyForcibly);
        }
    }
}
