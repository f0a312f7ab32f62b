package io.gpufleet.cli.install;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every image of compose/docker has in common. */
class ImagesTest {
    private static final Path DOCKER = Repository.module("compose/docker");

    @ParameterizedTest
    @ValueSource(strings = {"source", "licenses", "vendor", "version", "revision"})
    void imagesSayWhereTheyComeFrom(String label) throws IOException {
        assertThat(Files.readString(DOCKER.resolve("Dockerfile"))).contains("org.opencontainers.image." + label + "=");
    }

    @ParameterizedTest
    @CsvSource({"service, 8080", "node-daemon, 9400"})
    void imagesOfServersHaveAHealthCheck(String target, int port) throws IOException {
        String stages = Files.readString(DOCKER.resolve("Dockerfile"));
        String stage = stages.substring(stages.indexOf(" AS " + target + "\n")).split("\nFROM ", 2)[0];

        assertThat(stage).contains("HEALTHCHECK").contains("[\"/usr/local/bin/ready\", \"" + port + "\"]");
        assertThat(DOCKER.resolve("ready.sh")).isExecutable();
    }

    @ParameterizedTest
    @ValueSource(strings = {"proto/service-runtime", "node-daemon"})
    void programWithoutHeapEnds(String module) throws IOException {
        assertThat(Files.readAllLines(Repository.module(module).resolve("jvm.args")))
                .contains("-XX:+ExitOnOutOfMemoryError");
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
