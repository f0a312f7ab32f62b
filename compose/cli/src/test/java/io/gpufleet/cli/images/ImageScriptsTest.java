package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts and arguments by which a program of an image starts and is asked for its health. */
class ImageScriptsTest {
    private static final Path DOCKER = Repository.module("compose/docker");

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseParallelGC"})
    void serviceStartsWithTheCollectorThatJavaFlagsName(String collector) throws Exception {
        Process version = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "@" + Repository.module("proto/service-runtime").resolve("jvm.args"),
                        collector,
                        "-version")
                .redirectErrorStream(true)
                .start();

        assertThat(version.inputReader().lines()).noneMatch(line -> line.contains("Conflicting"));
        assertThat(version.waitFor()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "1879048192, 200000 100000, 0-1, 0",
        "max, max 100000, 0-127, 0",
        "3758096384, 150000 100000, 0-7, 0",
        "1879048191, max 100000, 0-7, 1",
        "1073741824, max 100000, 0-7, 1",
        "3758096384, 100000 100000, 0-7, 1",
        "3758096384, max 100000, 0, 1"
    })
    void serviceOfALargeContainerHasTheArgumentsOfALargeFleet(
            String memory, String quota, String processors, int exitStatus, @TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("memory.max"), memory + "\n");
        Files.writeString(directory.resolve("cpu.max"), quota + "\n");
        Files.writeString(directory.resolve("online"), processors + "\n");

        assertThat(large(directory)).isEqualTo(exitStatus);
    }

    @Test
    void serviceWithoutALimitThatCanBeReadHasTheUsualArguments(@TempDir Path directory) throws Exception {
        assertThat(large(directory)).isEqualTo(1);
    }

    private static int large(Path limits) throws Exception {
        return new ProcessBuilder(
                        DOCKER.resolve("large.sh").toString(),
                        limits.toString(),
                        limits.resolve("online").toString())
                .start()
                .waitFor();
    }

    @ParameterizedTest
    @CsvSource({"200, 0", "503, 1"})
    void healthCheckAsksWhetherTheProgramIsReady(int answer, int exitStatus) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/readyz", exchange -> {
            exchange.sendResponseHeaders(answer, -1);
            exchange.close();
        });
        server.start();
        try {
            assertThat(ready(server.getAddress().getPort())).isEqualTo(exitStatus);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void healthCheckFailsWhereNothingListens() throws Exception {
        assertThat(ready(FreePort.next())).isEqualTo(1);
    }

    private static int ready(int port) throws IOException, InterruptedException {
        var check = new ProcessBuilder(DOCKER.resolve("ready.sh").toString(), Integer.toString(port));
        check.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        return check.redirectErrorStream(true).start().waitFor();
    }
}
