package io.gpufleet.compose.bench.daemon;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * GPUs that do not exist, behind a libnvidia-ml.so.1 compiled from the daemon's test sources, so that every plugin sees
 * the same. A small program beside it plays them.
 */
final class Hardware implements AutoCloseable {
    private static final List<String> GCC = List.of("gcc", "-std=c11", "-O1", "-pthread", "-fvisibility=hidden", "-o");

    private final Path driverRoot;
    private final int gpus;
    private final Process player;
    private final Writer say;
    private final BufferedReader hear;

    private Hardware(Path driverRoot, int gpus, Process player) throws IOException {
        this.driverRoot = driverRoot;
        this.gpus = gpus;
        this.player = player;
        this.say = player.outputWriter(StandardCharsets.US_ASCII);
        this.hear = player.inputReader(StandardCharsets.US_ASCII);
        if (!"ready".equals(hear.readLine())) {
            throw new IOException("the program that plays the GPUs says nothing");
        }
    }

    /** Compiles library and player of a source tree into a directory. */
    static void build(Path tree, Path directory) throws InterruptedException {
        Path sources = tree.resolve("node-daemon/src/test/c");
        try {
            Files.createDirectories(directory);
            compile(
                    directory.resolve("libnvidia-ml.so"),
                    sources.resolve("nvml.c"),
                    "-fPIC",
                    "-shared",
                    "-Wl,-Bsymbolic");
            compile(directory.resolve("play"), sources.resolve("play.c"));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void compile(Path output, Path source, String... more) throws IOException, InterruptedException {
        var command = new ArrayList<>(GCC);
        command.add(output.toString());
        command.addAll(List.of(more));
        command.addAll(List.of(source.toString(), "-ldl"));
        Process gcc;
        try {
            gcc = new ProcessBuilder(command).inheritIO().start();
        } catch (IOException absent) {
            throw new ConfigurationException("no gcc in the PATH; the stand-in for NVIDIA's library is compiled by it:"
                    + " apt-get install gcc libc6-dev");
        }
        if (gcc.waitFor() != 0) {
            throw new ConfigurationException(source + " does not compile, see above");
        }
    }

    /** A machine with so many healthy GPUs below a directory of its own. */
    static Hardware of(Path built, Path driverRoot, int gpus) {
        try {
            Path directory = Files.createDirectories(driverRoot.resolve("usr/lib64"));
            Path library = directory.resolve("libnvidia-ml.so.1");
            if (!Files.exists(library)) {
                Files.copy(built.resolve("libnvidia-ml.so"), library);
            }
            var player =
                    new ProcessBuilder(built.resolve("play").toString(), directory.toString(), Integer.toString(gpus));
            return new Hardware(
                    driverRoot,
                    gpus,
                    player.redirectError(ProcessBuilder.Redirect.INHERIT).start());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    Path driverRoot() {
        return driverRoot;
    }

    int gpus() {
        return gpus;
    }

    /** The path for whoever looks for the library by name. */
    Path library() {
        return driverRoot.resolve("usr/lib64/libnvidia-ml.so.1");
    }

    /** Breaks a GPU; the library tells of it within about a millisecond. */
    void xid(int gpu, int code) {
        ask("xid " + gpu + " " + code);
    }

    /** When the library last handed an event to its caller, by the monotonic clock of this machine. */
    long deliveredNanos() {
        ask("delivered");
        try {
            return Long.parseLong(String.valueOf(hear.readLine()));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void ask(String line) {
        try {
            say.write(line + "\n");
            say.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        player.destroy();
    }
}
