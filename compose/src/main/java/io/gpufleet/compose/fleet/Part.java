package io.gpufleet.compose.fleet;

import java.util.Map;
import java.util.TreeMap;

/**
 * A process that is to run.
 *
 * @param name what {@code logs} and {@code status} call it
 * @param program what runs
 * @param environment its settings
 * @param ports its ports by use: {@code http}, {@code grpc}, {@code webhook}, {@code kafka}
 */
public record Part(String name, Program program, Map<String, String> environment, Map<String, Integer> ports) {
    /** Keeps its own copies, sorted. */
    public Part {
        environment = new TreeMap<>(environment);
        ports = new TreeMap<>(ports);
    }

    /** Where it answers {@code /readyz}. */
    public String httpAddress() {
        return "127.0.0.1:" + ports.get("http");
    }
}
