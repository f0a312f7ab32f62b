package io.gpufleet.nodedaemon.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostDriverFilesTest {
    private static final String VERSION = "580.159.04";

    @TempDir
    private Path host;

    private HostDriverFiles files;

    @BeforeEach
    void open() {
        files = new HostDriverFiles(new HostPaths(host.toString(), ""));
    }

    private void put(String path) throws IOException {
        Path there = host.resolve(path);
        Files.createDirectories(there.getParent());
        Files.writeString(there, path);
    }

    @Test
    void librariesAndProgramsOfASystemInstallationAreMountedOneByOne() throws IOException {
        put("usr/lib/x86_64-linux-gnu/libcuda.so." + VERSION);
        Files.createSymbolicLink(
                host.resolve("usr/lib/x86_64-linux-gnu/libcuda.so.1"), Path.of("libcuda.so." + VERSION));
        put("usr/lib/x86_64-linux-gnu/libc.so.6");
        put("usr/bin/nvidia-smi");
        put("lib/firmware/nvidia/" + VERSION + "/gsp_ga10x.bin");

        assertThat(files.find("/", VERSION))
                .containsExactly(
                        new Mount(
                                "/usr/lib/x86_64-linux-gnu/libcuda.so." + VERSION,
                                "/usr/local/nvidia/lib64/libcuda.so.1"),
                        new Mount("/usr/bin/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi"));
    }

    @Test
    void driverThatIsUnpackedIntoNvidiasDirectoryIsFound() throws IOException {
        put("usr/local/nvidia/lib64/libnvidia-ml.so." + VERSION);

        assertThat(files.find("/", VERSION))
                .containsExactly(new Mount(
                        "/usr/local/nvidia/lib64/libnvidia-ml.so." + VERSION,
                        "/usr/local/nvidia/lib64/libnvidia-ml.so." + VERSION));
    }

    @Test
    void programsOfADriverInADirectoryOfItsOwnAreTakenFromThere() throws IOException {
        put("usr/local/nvidia/lib64/libcuda.so." + VERSION);
        put("usr/local/nvidia/bin/nvidia-smi");
        put("usr/bin/nvidia-smi");

        assertThat(files.find("/", VERSION))
                .contains(new Mount("/usr/local/nvidia/bin/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi"));
    }

    @Test
    void anotherVersionIsNotMounted() throws IOException {
        put("usr/lib64/libcuda.so.535.1.1");

        assertThat(files.find("/", VERSION)).isEmpty();
    }
}
