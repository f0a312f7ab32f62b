package io.gpufleet.kit.lifecycle;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Version and Git revision of the build, for {@code --version}, the start log line and {@link #METRIC}.
 *
 * @param version the Maven version, for example {@code 0.1.0}
 * @param revision the abbreviated Git commit, with {@code -dirty} where the checkout had changes; {@code unknown}
 *     outside a checkout
 */
public record BuildInfo(String version, String revision) {
    /** Name of the gauge with the constant value 1 and the labels {@code version} and {@code revision}. */
    public static final String METRIC = "gpufleet_build_info";

    private static final String RESOURCE = "/io/gpufleet/kit/build.properties";
    private static final String UNKNOWN = "unknown";

    /** Reads the values of the running build; both are {@code unknown} where the classes were not built by Maven. */
    public static BuildInfo current() {
        try (InputStream resource = BuildInfo.class.getResourceAsStream(RESOURCE)) {
            return read(resource);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(RESOURCE + " cannot be read", unreadable);
        }
    }

    static BuildInfo read(@Nullable InputStream resource) throws IOException {
        var properties = new Properties();
        if (resource != null) {
            properties.load(resource);
        }
        return new BuildInfo(properties.getProperty("version", UNKNOWN), properties.getProperty("revision", UNKNOWN));
    }

    /** Formats both values for people, for example {@code 0.1.0 (revision 1a2b3c4d5e6f)}. */
    @Override
    public String toString() {
        return version + " (revision " + revision + ")";
    }
}
