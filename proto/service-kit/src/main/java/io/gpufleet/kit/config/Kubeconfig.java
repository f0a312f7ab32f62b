package io.gpufleet.kit.config;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Supplier;

/** Reads the file that {@code KUBECONFIG} names, or reports in one line why it cannot be used. */
public final class Kubeconfig {
    private Kubeconfig() {}

    /**
     * Reads a single kubeconfig file.
     *
     * @param value of {@code KUBECONFIG}; empty when it is not set
     * @param parser parser of a Kubernetes client for the text of the file; any exception means that the file is
     *     invalid
     * @param fallback the client's own search, used where no file or several files are named. It is not used for a
     *     single file, because it skips a file that it cannot read and connects to some other server
     */
    public static <T> T read(String value, Function<String, T> parser, Supplier<T> fallback) {
        if (value.isEmpty() || value.contains(File.pathSeparator)) {
            return fallback.get();
        }
        try {
            return parser.apply(Files.readString(Path.of(value)));
        } catch (IOException unreadable) {
            throw new ConfigurationException(
                    "KUBECONFIG=" + value + " cannot be read: name a kubeconfig file that this process may read");
        } catch (RuntimeException malformed) {
            throw new ConfigurationException("KUBECONFIG=" + value + " is no kubeconfig ("
                    + String.valueOf(malformed.getMessage()).lines().findFirst().orElse("")
                    + "): name one that kubectl accepts");
        }
    }
}
