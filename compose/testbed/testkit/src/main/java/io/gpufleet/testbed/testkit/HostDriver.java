package io.gpufleet.testbed.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A driver on the host, for simulated devices: libraries and programs are text, device nodes those of the null device. */
public final class HostDriver {
    private static final String VERSION = "570.124.06";

    private HostDriver() {}

    /** Makes it below a directory; settings of the daemon that lead to it. */
    public static Map<String, String> make(Path directory, int gpus) throws IOException, InterruptedException {
        Path libraries = Files.createDirectories(directory.resolve("driver/lib64"));
        Path cuda = Files.writeString(libraries.resolve("libcuda.so." + VERSION), "this is libcuda\n");
        Files.createSymbolicLink(libraries.resolve("libcuda.so.1"), cuda.getFileName());
        Path programs = Files.createDirectories(directory.resolve("driver/bin"));
        Files.writeString(programs.resolve("nvidia-smi"), "this is nvidia-smi\n");
        Path nodes = Files.createDirectories(directory.resolve("devices/dev"));
        var names = new ArrayList<>(List.of("nvidiactl", "nvidia-uvm"));
        for (int gpu = 0; gpu < gpus; gpu++) {
            names.add("nvidia" + gpu);
        }
        for (String name : names) {
            makeNode(nodes.resolve(name));
        }
        return Map.of(
                "GPUFLEET_DRIVER_ROOT",
                directory.resolve("driver").toString(),
                "GPUFLEET_DEV_ROOT",
                directory.resolve("devices").toString());
    }

    private static void makeNode(Path node) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("mknod", node.toString(), "c", "1", "3")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError("mknod " + node + ": " + output);
        }
    }
}
