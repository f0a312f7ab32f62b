package io.gpufleet.compose.fleet;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Waits for a process to answer {@code /readyz}; one that ends or stays silent is an error with its last words. */
final class Readiness {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(40);
    private static final int TIMEOUT_MILLIS = 2000;
    private static final int LAST_WORDS = 12;

    private Readiness() {}

    /** Returns once it is ready. */
    static void await(FleetState.Started part, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        String last = "no answer yet";
        while (System.nanoTime() < deadline) {
            ProcessHandle process = part.identity().find().orElse(null);
            if (process == null) {
                throw new IllegalStateException(part.name() + " ended while it started" + lastWords(part));
            }
            last = ask(part.ports().getOrDefault("http", 0));
            if (last.isEmpty()) {
                return;
            }
            Processes.gone(process, LOOK_AGAIN);
        }
        throw new IllegalStateException(
                part.name() + " is not ready after " + patience.toSeconds() + " s: " + last + lastWords(part));
    }

    /** Why a part is not ready; empty when it is. */
    static String ask(int port) {
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
                            : new String(body.readAllBytes(), StandardCharsets.UTF_8);
                }
            } finally {
                connection.disconnect();
            }
        } catch (IOException notYet) {
            return String.valueOf(notYet.getMessage());
        }
    }

    private static String lastWords(FleetState.Started part) {
        try {
            List<String> lines = Files.readAllLines(Path.of(part.log()));
            String tail = String.join("\n    ", lines.subList(Math.max(0, lines.size() - LAST_WORDS), lines.size()));
            return "; its log, " + part.log() + ", ends with\n    " + tail;
        } catch (IOException none) {
            return "; see " + part.log();
        }
    }
}
