package io.gpufleet.cli.pack;

import io.gpufleet.cli.fleet.CCompiler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Fake GPUs behind a libnvidia-ml.so.1 compiled from the daemon's test sources, so that every plugin sees the same. A
 * small program beside it, the controller, injects faults.
 */
public final class FakeNvmlLibrary implements AutoCloseable {
    private static final int UNKNOWN_ERROR = 999;

    private final Path driverRoot;
    private int gpus;
    private final Process controller;
    private final Writer commands;
    private final BufferedReader responses;

    private FakeNvmlLibrary(Path driverRoot, int gpus, Process controller) throws IOException {
        this.driverRoot = driverRoot;
        this.gpus = gpus;
        this.controller = controller;
        this.commands = controller.outputWriter(StandardCharsets.US_ASCII);
        this.responses = controller.inputReader(StandardCharsets.US_ASCII);
        if (!"ready".equals(responses.readLine())) {
            throw new IOException("the fake NVML controller did not start");
        }
    }

    /** Compiles library and controller of a source tree into a directory. */
    public static void build(Path tree, Path directory) throws InterruptedException {
        Path sources = tree.resolve("node-daemon/src/test/c");
        try {
            Files.createDirectories(directory);
            String purpose = "the fake NVML library";
            CCompiler.compileLibrary(directory.resolve("libnvidia-ml.so"), sources.resolve("nvml.c"), purpose);
            CCompiler.compile(directory.resolve("play"), sources.resolve("play.c"), purpose);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Starts a machine with this many healthy GPUs below a directory of its own. */
    public static FakeNvmlLibrary start(Path built, Path driverRoot, int gpus) {
        try {
            Path directory = Files.createDirectories(driverRoot.resolve("usr/lib64"));
            Path library = directory.resolve("libnvidia-ml.so.1");
            if (!Files.exists(library)) {
                Files.copy(built.resolve("libnvidia-ml.so"), library);
            }
            for (int gpu = 0; gpu < gpus; gpu++) {
                bind(driverRoot, gpu);
            }
            var controller =
                    new ProcessBuilder(built.resolve("play").toString(), directory.toString(), Integer.toString(gpus));
            return new FakeNvmlLibrary(
                    driverRoot,
                    gpus,
                    controller.redirectError(ProcessBuilder.Redirect.INHERIT).start());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** As the kernel shows a GPU that the driver is bound to; its address is that of the controller's. */
    private static void bind(Path driverRoot, int gpu) throws IOException {
        String address = String.format(Locale.ROOT, "0000:%02x:00.0", 7 + 8 * gpu);
        Path devices = driverRoot.resolve("sys/bus/pci/devices");
        Path device = Files.createDirectories(devices.resolve(address));
        Files.writeString(device.resolve("vendor"), "0x10de\n");
        Files.writeString(device.resolve("class"), "0x030200\n");
        if (!Files.isSymbolicLink(device.resolve("driver"))) {
            Files.createSymbolicLink(device.resolve("driver"), Path.of("../../drivers/nvidia"));
        }
    }

    /** The driver root that a plugin is pointed at. */
    public Path driverRoot() {
        return driverRoot;
    }

    /** A sysfs with the GPUs. */
    public Path sysfs() {
        return driverRoot.resolve("sys");
    }

    /** Number of GPUs. */
    public int gpus() {
        return gpus;
    }

    /** Path of the library. */
    public Path library() {
        return driverRoot.resolve("usr/lib64/libnvidia-ml.so.1");
    }

    /** Injects an XID; the library delivers it within about a millisecond. */
    public void xid(int gpu, int code) {
        send("xid " + gpu + " " + code);
    }

    /** Makes each call about a GPU fail as if it had fallen off the bus; no event tells of it. */
    public void lose(int gpu) {
        send("lose " + gpu);
    }

    /** Binds the driver to another GPU, which the library shows to its next session. */
    public void addGpu() {
        try {
            bind(driverRoot, gpus);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        gpus++;
        send("gpus " + gpus);
    }

    /** Whether each wait for events fails from now on. */
    public void failWaits(boolean failing) {
        send("waits " + (failing ? UNKNOWN_ERROR : 0));
    }

    /** Number of waits for events so far. */
    public long waits() {
        return ask("waited");
    }

    /** Time at which the library last returned an event to its caller, by the monotonic clock of this machine. */
    public long deliveredNanos() {
        return ask("delivered");
    }

    private long ask(String line) {
        send(line);
        try {
            return Long.parseLong(String.valueOf(responses.readLine()));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void send(String line) {
        try {
            commands.write(line + "\n");
            commands.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        controller.destroy();
    }
}
