package io.gpufleet.kit.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

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
}
