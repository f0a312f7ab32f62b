package io.gpufleet.cli.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The C compiler of this machine. */
public final class CCompiler {
    private static final List<String> GCC = List.of("gcc", "-std=c11", "-O1", "-pthread", "-fvisibility=hidden", "-o");

    private CCompiler() {}

    /**
     * Compiles one source file.
     *
     * @param purpose what is compiled, as the subject of the message where there is no compiler
     * @param options further options, such as {@code -shared}
     */
    public static void compile(Path output, Path source, String purpose, String... options)
            throws InterruptedException {
        var command = new ArrayList<>(GCC);
        command.add(output.toString());
        command.addAll(List.of(options));
        command.addAll(List.of(source.toString(), "-ldl"));
        Process gcc;
        try {
            gcc = new ProcessBuilder(command).inheritIO().start();
        } catch (IOException absent) {
            throw new ConfigurationException(
                    "no gcc in the PATH; " + purpose + " is compiled by it: apt-get install gcc libc6-dev");
        }
        if (gcc.waitFor() != 0) {
            throw new ConfigurationException(source + " does not compile, see above");
        }
    }

    /** Compiles a shared library. */
    public static void compileLibrary(Path output, Path source, String purpose) throws InterruptedException {
        compile(output, source, purpose, "-fPIC", "-shared", "-Wl,-Bsymbolic");
    }
}
