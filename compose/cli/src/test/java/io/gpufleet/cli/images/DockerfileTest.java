package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every image of compose/docker has in common. */
class DockerfileTest {
    private static final Path DOCKER = Repository.module("compose/docker");

    @ParameterizedTest
    @ValueSource(strings = {"source", "licenses", "vendor", "version", "revision"})
    void imagesSayWhereTheyComeFrom(String label) throws IOException {
        assertThat(Files.readString(DOCKER.resolve("Dockerfile"))).contains("org.opencontainers.image." + label + "=");
    }

    @ParameterizedTest
    @CsvSource({"service, 8080", "node-daemon, 9400"})
    void imagesOfServersHaveAHealthCheck(String target, int port) throws IOException {
        assertThat(stage(target)).contains("HEALTHCHECK").contains("[\"/usr/local/bin/ready\", \"" + port + "\"]");
        assertThat(DOCKER.resolve("ready.sh")).isExecutable();
    }

    @Test
    void imagesHaveNothingButWhatIsCopied() throws IOException {
        assertThat(stage("base")).startsWith("FROM scratch AS base\nCOPY --from=root /image /\n");
    }

    @Test
    void programsButTheDaemonAreNotRoot() throws IOException {
        assertThat(stage("service")).startsWith("FROM base AS service\n").contains("\nUSER 65532:65532\n");
        List<String> stages = Files.readString(DOCKER.resolve("Dockerfile"))
                .lines()
                .filter(line -> line.startsWith("FROM "))
                .toList();
        assertThat(stages.subList(stages.indexOf("FROM scratch AS base"), stages.size()))
                .containsExactly(
                        "FROM scratch AS base",
                        "FROM base AS node-daemon",
                        "FROM base AS service",
                        "FROM service AS inventory-service",
                        "FROM service AS health-service",
                        "FROM service AS allocation-service",
                        "FROM service AS cli",
                        "FROM service AS fake-apiserver",
                        "FROM service AS fake-kubelet");
        assertThat(Files.readString(DOCKER.resolve("Dockerfile"))).containsOnlyOnce("USER ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Dockerfile", "layout.sh", "root.sh", "rootfs.sh", "runtime.sh", "ready.sh", "large.sh"})
    void imagesAreBuiltForAnyArchitecture(String file) throws IOException {
        assertThat(Files.readString(DOCKER.resolve(file)).replace("linux/arm64", ""))
                .doesNotContainPattern("(?i)amd64|x86.64|aarch64|arm64");
    }

    @Test
    void basesOfThisCheckoutArePinned() throws IOException {
        assertThat(Files.readAllLines(Repository.module("compose/.env")))
                .filteredOn(line -> !line.startsWith("#"))
                .hasSize(2)
                .allMatch(line -> line.matches("GPUFLEET_(BUILD|BASE)_IMAGE=[a-z]+:[^@]+@sha256:[0-9a-f]{64}"));
        assertThat(Files.readAllLines(DOCKER.resolve("Dockerfile")))
                .contains("ARG GPUFLEET_BUILD_IMAGE", "ARG GPUFLEET_BASE_IMAGE");
    }

    private static String stage(String target) throws IOException {
        String stages = Files.readString(DOCKER.resolve("Dockerfile"));
        int name = stages.indexOf(" AS " + target + "\n");
        return stages.substring(stages.lastIndexOf("\nFROM ", name) + 1).split("\nFROM ", 2)[0];
    }
}
