package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./gpufleet images compare}. */
class ImageComparisonTest {
    @Test
    void comparedImagesNameTheFilesThatDiffer(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        images.export("one", "same", "cache of one");
        images.export("other", "same", "cache of the other");
        assertThat(images.run("compare", "one", "other")).as(images.output()).isZero();

        images.export("other", "changed", "cache of the other");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);

        assertThat(images.output())
                .contains("health-service: ./opt/gpufleet/jvm.args")
                .doesNotContain(".aot");
    }

    @Test
    void comparedImagesNameModesOwnersLinksAndConfigurationsThatDiffer(@TempDir Path directory) throws Exception {
        // Given
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        images.export("one", "same", "cache");
        Path other = images.export("other", "same", "cache");
        Path arguments = other.resolve("jvm.args");
        Path link = other.resolve("latest");

        // When, one after the other
        assertThat(arguments.toFile().setExecutable(true)).isTrue();
        images.pack("other");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        // Then
        assertThat(images.output()).containsPattern("opt/gpufleet/jvm.args is -rwx[rwx-]+ [0-9]+/[0-9]+");

        assertThat(arguments.toFile().setExecutable(false)).isTrue();
        Files.delete(link);
        Files.createSymbolicLink(link, Path.of("elsewhere"));
        images.pack("other");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        assertThat(images.output())
                .contains("opt/gpufleet/latest -> elsewhere is l", "opt/gpufleet/latest -> jvm.args");

        Files.delete(link);
        Files.createSymbolicLink(link, Path.of("jvm.args"));
        images.pack("other", "--owner=7");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        assertThat(images.output()).containsPattern("opt/gpufleet/jvm.args is -[rwx-]+ 7/");

        images.pack("other");
        images.configuration("other", "{\"User\":\"0\",\"Image\":\"sha256:5e\"}");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        assertThat(images.output()).contains("configuration {\"User\":\"0\"}").doesNotContain("sha256:5e");

        images.configuration("other", "{\"User\":\"65532\",\"Image\":\"sha256:5e\"}");
        assertThat(images.run("compare", "one", "other")).as(images.output()).isZero();
    }
}
