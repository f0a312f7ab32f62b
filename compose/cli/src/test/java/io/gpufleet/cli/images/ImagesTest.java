package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.manifests.ManifestFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./gpufleet images}: build, push and pin. */
class ImagesTest {
    @Test
    void buildTakesTheBasesOfTheFile(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(
                directory,
                "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim@sha256:" + ImagesCommand.DIGEST
                        + "\n");

        assertThat(images.run("build", "registry.example/fleet")).isZero();

        assertThat(images.dockerCalls())
                .filteredOn(call -> call.startsWith("build "))
                .hasSize(5)
                .allMatch(call -> call.contains(
                        "--build-arg GPUFLEET_BUILD_IMAGE=maven:3 --build-arg GPUFLEET_BASE_IMAGE=debian:13-slim@sha256:"
                                + ImagesCommand.DIGEST))
                .anyMatch(call -> call.contains("-t registry.example/fleet/health-service:"));
    }

    @Test
    void pushSendsEveryImageThatBuildMakes(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");

        assertThat(images.run("push", "registry.example:5000/fleet"))
                .as(images.output())
                .isZero();

        assertThat(images.dockerCalls())
                .filteredOn(call -> !call.startsWith("version"))
                .containsExactlyInAnyOrderElementsOf(ManifestFiles.IMAGES.stream()
                        .map(image -> "push registry.example:5000/fleet" + image.substring(image.indexOf('/')) + ":"
                                + ManifestFiles.RELEASE)
                        .toList());
    }

    @Test
    void pushWithoutRegistryCallsNobody(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");

        assertThat(images.run("push")).isEqualTo(2);

        assertThat(images.output()).contains("images push: name the registry");
        assertThat(images.dockerCalls()).isEmpty();
    }

    @Test
    void imageThatTheRegistryRefusesEndsThePush(@TempDir Path directory) throws Exception {
        // Given
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        Path docker = directory.resolve("bin/docker");
        Files.writeString(
                docker,
                Files.readString(docker)
                        .replace("case", "case \"$1 $2\" in push*/health-service:*) exit 1 ;; esac\ncase"));
        // When
        int status = images.run("push", "registry.example/fleet");
        // Then
        assertThat(status).isEqualTo(1);
        assertThat(images.output())
                .contains("registry.example/fleet/health-service:" + ManifestFiles.RELEASE + " was not pushed");
        assertThat(images.dockerCalls()).noneMatch(call -> call.contains("/cli:"));
    }

    @Test
    void releaseIsNotBuiltOnABaseWithoutDigest(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(
                directory,
                "GPUFLEET_BUILD_IMAGE=maven:3@sha256:" + ImagesCommand.DIGEST
                        + "\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");

        assertThat(images.run("build", "--release", "registry.example/fleet")).isEqualTo(2);

        assertThat(images.output())
                .contains("'GPUFLEET_BASE_IMAGE=debian:13-slim'", "has no digest", "./gpufleet images pin");
        assertThat(images.dockerCalls()).isEmpty();
    }

    @Test
    void pinWritesTheDigestOfTheRegistry(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(
                directory,
                "# bases\nGPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13@sha256:" + "0".repeat(64) + "\n");

        assertThat(images.run("pin")).isZero();

        assertThat(images.dockerCalls()).contains("pull -q maven:3", "pull -q debian:13");
        assertThat(images.bases())
                .isEqualTo("# bases\nGPUFLEET_BUILD_IMAGE=maven:3@sha256:" + ImagesCommand.DIGEST
                        + "\nGPUFLEET_BASE_IMAGE=debian:13@sha256:" + ImagesCommand.DIGEST + "\n");
        assertThat(images.run("build", "--release", "registry.example/fleet")).isZero();
    }

    @Test
    void podmanBuildsWhereNoDockerDaemonAnswers(@TempDir Path directory) throws Exception {
        // Given
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        Path docker = directory.resolve("bin/docker");
        Files.move(docker, docker.resolveSibling("podman"));
        Files.writeString(docker, "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n");
        assertThat(docker.toFile().setExecutable(true)).isTrue();
        // When
        int status = images.run("build", "registry.example/fleet");
        // Then
        assertThat(status).as(images.output()).isZero();
        assertThat(images.dockerCalls())
                .filteredOn(call -> call.startsWith("build "))
                .hasSize(5)
                .allMatch(call -> call.contains(" --format docker "));
    }
}
