package io.gpufleet.cli.fleet;

import java.util.Map;
import java.util.TreeMap;

/**
 * A process to be started.
 *
 * @param name name in {@code logs} and {@code status}
 * @param program the program
 * @param environment its settings
 * @param ports its ports by use: {@code http}, {@code grpc}, {@code webhook}, {@code kafka}
 */
public record PlannedProcess(
        String name, Program program, Map<String, String> environment, Map<String, Integer> ports) {
    /** Keeps its own copies, sorted. */
    public PlannedProcess {
        environment = new TreeMap<>(environment);
        ports = new TreeMap<>(ports);
    }

    /** Address of {@code /readyz}. */
    public String httpAddress() {
        return "127.0.0.1:" + ports.get("http");
    }
}
