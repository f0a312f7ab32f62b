package io.gpufleet.kit.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class BuildInfoTest {
    @Test
    void buildWritesVersionAndRevision() {
        assertThat(BuildInfo.current().version()).matches("\\d+\\.\\d+\\.\\d+.*");
        assertThat(BuildInfo.current().revision()).matches("[0-9a-f]{12,}(-dirty)?|unknown");
    }

    @Test
    void valuesAreReadFromTheResource() throws Exception {
        var resource = new ByteArrayInputStream(
                "version=1.2.3\nrevision=1a2b3c4d5e6f\n".getBytes(StandardCharsets.ISO_8859_1));

        assertThat(BuildInfo.read(resource)).hasToString("1.2.3 (revision 1a2b3c4d5e6f)");
    }

    @Test
    void valuesAreUnknownWithoutTheResource() throws Exception {
        assertThat(BuildInfo.read(null)).isEqualTo(new BuildInfo("unknown", "unknown"));
    }

    @Test
    void buildOutsideACheckoutTakesTheRevisionOfTheEnvironment(@TempDir Path directory) throws Exception {
        Path script = Path.of("src/main/build/write-build-info.sh").toAbsolutePath();
        Path module = Files.createDirectories(directory.resolve("proto/module"));
        Path file = module.resolve("build.properties");
        var build = new ProcessBuilder("sh", script.toString(), "1.2.3", file.toString()).directory(module.toFile());
        build.environment().put("GPUFLEET_REVISION", "1a2b3c4d5e6f7a8b9c0d");

        assertThat(build.start().waitFor()).isZero();

        assertThat(file).hasContent("version=1.2.3\nrevision=1a2b3c4d5e6f");
    }
}
