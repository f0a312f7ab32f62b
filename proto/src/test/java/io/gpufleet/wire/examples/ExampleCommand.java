package io.gpufleet.wire.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;

/** A command in the directory of an example, with the clients that {@code proto/examples/install} installed. */
@NullMarked
final class ExampleCommand {
    private static final Path CLIENTS = Path.of("target/examples").toAbsolutePath();
    private static final long LIMIT_SECONDS = 120;

    private final Path directory;

    ExampleCommand(String example) {
        this.directory = Path.of("examples", example).toAbsolutePath();
    }

    /** Exit status, or -1 without the program or after the time limit, and what the command printed. */
    record Result(int status, String output, String errors) {}

    Result run(Path scratch, List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(scratch, "example", ".out");
        Path errors = Files.createTempFile(scratch, "example", ".err");
        var builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile());
        builder.environment()
                .putAll(Map.of(
                        "PYTHONPATH",
                        CLIENTS.resolve("python").toString(),
                        "NODE_PATH",
                        CLIENTS.resolve("node_modules").toString(),
                        // A test downloads nothing.
                        "GOPROXY",
                        "off",
                        "GOFLAGS",
                        "-mod=readonly"));
        Process process;
        try {
            process = builder.start();
        } catch (IOException noSuchProgram) {
            return new Result(-1, "", String.valueOf(noSuchProgram.getMessage()));
        }
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            return new Result(-1, Files.readString(output), "no end within " + LIMIT_SECONDS + " s");
        }
        return new Result(process.exitValue(), Files.readString(output), Files.readString(errors));
    }
}
