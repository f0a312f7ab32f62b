package io.gpufleet.kit.config;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Supplier;

/** What {@code KUBECONFIG} names, or one line that says why it is of no use. */
public final class Kubeconfig {
    private Kubeconfig() {}

    /**
     * Reads a kubeconfig of one file.
     *
     * @param value of {@code KUBECONFIG}; empty when it is not set
     * @param parser of a Kubernetes client, for the text of the file; whatever it throws, the file is no kubeconfig
     * @param found what the client finds by itself, where nothing or several files are named: its own search would pass
     *     over a single file that it can not read, and ask some other server
     */
    public static <T> T read(String value, Function<String, T> parser, Supplier<T> found) {
        if (value.isEmpty() || value.contains(File.pathSeparator)) {
            return found.get();
        }
        try {
            return parser.apply(Files.readString(Path.of(value)));
        } catch (IOException unreadable) {
            throw new ConfigurationException(
                    "KUBECONFIG=" + value + " can not be read: name a kubeconfig file that this process may read");
        } catch (RuntimeException malformed) {
            throw new ConfigurationException("KUBECONFIG=" + value + " is no kubeconfig ("
                    + String.valueOf(malformed.getMessage()).lines().findFirst().orElse("")
                    + "): name one that kubectl takes");
        }
    }
}
