package io.gpufleet.cli.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Waits until a process answers {@code /readyz}; one that exits or does not answer is an error with the end of its log.
 */
public final class ReadinessProbe {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(40);
    private static final int TIMEOUT_MILLIS = 2000;
    private static final int LOG_TAIL_LINES = 12;

    private ReadinessProbe() {}

    /** Returns once it is ready. */
    public static void await(FleetState.FleetProcess started, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        String last = "no answer yet";
        while (System.nanoTime() < deadline) {
            ProcessHandle process = started.identity().find().orElse(null);
            if (process == null) {
                throw new IllegalStateException(started.name() + " exited while starting" + logTail(started));
            }
            last = probe(started.ports().getOrDefault("http", 0));
            if (last.isEmpty()) {
                return;
            }
            Processes.awaitExit(process, POLL_INTERVAL);
        }
        throw new IllegalStateException(
                started.name() + " is not ready after " + timeout.toSeconds() + " s: " + last + logTail(started));
    }

    /** Why a process is not ready; empty when it is. */
    static String probe(int port) {
        try {
            var connection = (HttpURLConnection)
                    URI.create("http://127.0.0.1:" + port + "/readyz").toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            try {
                if (connection.getResponseCode() == HttpURLConnection.HTTP_OK) {
                    return "";
                }
                try (var body = connection.getErrorStream()) {
                    return body == null
                            ? "HTTP " + connection.getResponseCode()
                            : reasons(new String(body.readAllBytes(), StandardCharsets.UTF_8));
                }
            } finally {
                connection.disconnect();
            }
        } catch (IOException notYet) {
            return String.valueOf(notYet.getMessage());
        }
    }

    /** Reasons of the answer of a service, or the answer where it has none. */
    private static String reasons(String answer) {
        try {
            JsonNode reasons = new ObjectMapper().readTree(answer).path("reasons");
            return reasons.isEmpty()
                    ? answer
                    : StreamSupport.stream(reasons.spliterator(), false)
                            .map(JsonNode::asText)
                            .collect(Collectors.joining("; "));
        } catch (JsonProcessingException noJson) {
            return answer;
        }
    }

    private static String logTail(FleetState.FleetProcess started) {
        List<String> tail = LogTail.of(started.log(), LOG_TAIL_LINES);
        return tail.isEmpty()
                ? "; see " + started.log()
                : "; its log, " + started.log() + ", ends with\n    " + String.join("\n    ", tail);
    }
}
