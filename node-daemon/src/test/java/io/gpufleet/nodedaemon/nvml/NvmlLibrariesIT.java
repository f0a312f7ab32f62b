package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.DeviceScan.DriverProblem;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Search for the library, and rejection of other files. */
class NvmlLibrariesIT {
    @TempDir
    private Path root;

    private NvmlSource open(String library) {
        return new NvmlSource(
                new NvmlSettings(library, root, root, Duration.ofSeconds(30), Duration.ofHours(1)),
                new SysfsPciDevices(root));
    }

    @Test
    void scanFailsWithoutALibraryUntilThereIsOne() {
        try (NvmlSource source = open("")) {
            // Given
            assertThat(source.scan())
                    .isEqualTo(new DeviceScan.ScanFailed(
                            DriverProblem.LIBRARY_ABSENT,
                            "no libnvidia-ml.so.1 below " + root
                                    + ": install the NVIDIA driver, or set GPUFLEET_DRIVER_ROOT or"
                                    + " GPUFLEET_NVML_LIBRARY"));
            assertThat(source.sample()).isEmpty();

            // When
            try (FakeNvml _ = FakeNvml.install(root, 2)) {
                // Then
                assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(2);
            }
        }
    }

    @Test
    void fileThatIsNoNvmlLibraryIsRejectedWithOneLine() throws IOException {
        // Given
        Path text = Files.writeString(root.resolve("text.so"), "not a library");
        Path brokenElf = Files.writeString(root.resolve("broken.so"), "\u007fELF and nothing else");
        Path otherLibrary = Files.copy(FakeNvmlBuild.library(), root.resolve("libother.so"));
        stripNames(otherLibrary);

        // Then
        for (Path file : List.of(text, brokenElf, otherLibrary)) {
            try (NvmlSource source = open(file.toString())) {
                DeviceScan.ScanFailed blind = (DeviceScan.ScanFailed) source.scan();
                assertThat(blind.problem()).isEqualTo(DriverProblem.FAILED);
                assertThat(blind.reason())
                        .startsWith(file + " is not an NVML library (")
                        .endsWith("let GPUFLEET_NVML_LIBRARY name a libnvidia-ml.so.1,"
                                + " or unset it to search below the driver root")
                        .doesNotContain("\n");
            }
        }
        try (NvmlSource source = open(root.resolve("absent.so").toString())) {
            assertThat(((DeviceScan.ScanFailed) source.scan()).problem()).isEqualTo(DriverProblem.LIBRARY_ABSENT);
        }
    }

    @Test
    void libraryThatWasReplacedInPlaceIsReopened() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 1);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            source.release();

            // When
            Path file = nvml.library().toRealPath();
            Files.delete(file);
            Files.copy(FakeNvmlBuild.library(), file);

            // Then
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            assertThat(OwnProcessFiles.mapped(file + " (deleted)")).isFalse();
            assertThat(OwnProcessFiles.mapped(file.toString())).isTrue();
        }
    }

    @Test
    void absoluteLinkStartsAtTheDriverRoot() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 1);
                NvmlSource source = open("")) {
            // Given
            Path file = nvml.library().toRealPath();
            Files.delete(nvml.library());
            Files.createSymbolicLink(nvml.library(), Path.of("/usr/lib64").resolve(file.getFileName()));

            // Then
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
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
    void libraryIsFoundWhereDistributionsPutIt(String directory) throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root.resolve("elsewhere"), 1);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanFailed.class);

            // When
            Path place = Files.createDirectories(root.resolve(directory));
            Files.createSymbolicLink(
                    place.resolve("libnvidia-ml.so.1"),
                    place.relativize(nvml.library().toRealPath()));

            // Then
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
        }
    }

    /** Renames every function, which makes a valid library that is not NVML. */
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
