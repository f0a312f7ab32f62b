package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Look.DriverTrouble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the library is found, and what is not taken for it. */
class NvmlLibraryIT {
    @TempDir
    private Path root;

    private NvmlSource open(String library) {
        return new NvmlSource(new NvmlSettings(
                library, root, root, root, Duration.ofSeconds(30), Duration.ofMillis(50), Duration.ofHours(1)));
    }

    @Test
    void aNodeWithoutALibraryIsBlindUntilThereIsOne() {
        try (NvmlSource source = open("")) {
            // Given
            assertThat(source.look())
                    .isEqualTo(new Look.Blind(
                            DriverTrouble.LIBRARY_ABSENT,
                            "no libnvidia-ml.so.1 below " + root
                                    + ": install the NVIDIA driver, or set GPUFLEET_DRIVER_ROOT or"
                                    + " GPUFLEET_NVML_LIBRARY"));
            assertThat(source.vitals()).isEmpty();

            // When
            try (StandInNvml _ = StandInNvml.install(root, 2)) {
                // Then
                assertThat(((Look.Seen) source.look()).gpus()).hasSize(2);
            }
        }
    }

    @Test
    void aFileThatIsNoNvmlLibraryGetsOneClearLine() throws IOException {
        // Given
        Path text = Files.writeString(root.resolve("text.so"), "not a library");
        Path brokenElf = Files.writeString(root.resolve("broken.so"), "\u007fELF and nothing else");
        Path otherLibrary = Files.copy(CBuild.library(), root.resolve("libother.so"));
        stripNames(otherLibrary);

        // Then
        for (Path file : List.of(text, brokenElf, otherLibrary)) {
            try (NvmlSource source = open(file.toString())) {
                Look.Blind blind = (Look.Blind) source.look();
                assertThat(blind.trouble()).isEqualTo(DriverTrouble.FAILED);
                assertThat(blind.reason())
                        .startsWith(file + " is not an NVML library (")
                        .endsWith("let GPUFLEET_NVML_LIBRARY name a libnvidia-ml.so.1,"
                                + " or unset it to search below the driver root")
                        .doesNotContain("\n");
            }
        }
        try (NvmlSource source = open(root.resolve("absent.so").toString())) {
            assertThat(((Look.Blind) source.look()).trouble()).isEqualTo(DriverTrouble.LIBRARY_ABSENT);
        }
    }

    @Test
    void aLibraryThatWasReplacedInPlaceIsOpenedAnew() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 1);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
            source.release();

            // When
            Path file = nvml.library().toRealPath();
            Files.delete(file);
            Files.copy(CBuild.library(), file);

            // Then
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
            assertThat(OwnProcess.mapped(file + " (deleted)")).isFalse();
            assertThat(OwnProcess.mapped(file.toString())).isTrue();
        }
    }

    @Test
    void anAbsoluteLinkIsMeantBelowTheDriverRoot() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 1);
                NvmlSource source = open("")) {
            // Given
            Path file = nvml.library().toRealPath();
            Files.delete(nvml.library());
            Files.createSymbolicLink(nvml.library(), Path.of("/usr/lib64").resolve(file.getFileName()));

            // Then
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "usr/lib64",
                "usr/lib/x86_64-linux-gnu",
                "usr/lib/aarch64-linux-gnu",
                "lib64",
                "lib/x86_64-linux-gnu",
                "lib/aarch64-linux-gnu",
                "usr/local/nvidia/lib64"
            })
    void theLibraryIsFoundWhereDistributionsPutIt(String directory) throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root.resolve("elsewhere"), 1);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.look()).isInstanceOf(Look.Blind.class);

            // When
            Path place = Files.createDirectories(root.resolve(directory));
            Files.createSymbolicLink(
                    place.resolve("libnvidia-ml.so.1"),
                    place.relativize(nvml.library().toRealPath()));

            // Then
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
        }
    }

    /** Makes every function name an unknown one: a good library that is not NVML. */
    private static void stripNames(Path library) throws IOException {
        byte[] bytes = Files.readAllBytes(library);
        for (int i = 0; i + 4 < bytes.length; i++) {
            if (bytes[i] == 'n' && bytes[i + 1] == 'v' && bytes[i + 2] == 'm' && bytes[i + 3] == 'l') {
                bytes[i] = 'x';
            }
        }
        Files.write(library, bytes);
    }
}
