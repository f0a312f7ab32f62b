package io.gpufleet.cli.pack;

import io.gpufleet.cli.fleet.CCompiler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Fake GPUs behind a libnvidia-ml.so.1 compiled from the daemon's test sources, so that every plugin sees the same. A
 * small program beside it, the controller, injects faults.
 */
public final class FakeNvmlLibrary implements AutoCloseable {
    private final Path driverRoot;
    private final int gpus;
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

    /** The driver root that a plugin is pointed at. */
    public Path driverRoot() {
        return driverRoot;
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

    /** Time at which the library last returned an event to its caller, by the monotonic clock of this machine. */
    public long deliveredNanos() {
        send("delivered");
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
