package io.gpufleet.nodedaemon.doctor;

import io.gpufleet.nodedaemon.model.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** Asks the daemon that runs beside, where one does. */
public final class DaemonCheck {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int READY = 200;

    private DaemonCheck() {}

    /** Whether it is ready; host as in GPUFLEET_HTTP_HOST. */
    public static Finding ready(String host, int port) {
        String at = (host.equals("0.0.0.0") ? "127.0.0.1" : host) + ":" + port;
        try {
            var connection = (HttpURLConnection)
                    URI.create("http://" + at + "/readyz").toURL().openConnection();
            connection.setConnectTimeout((int) PATIENCE.toMillis());
            connection.setReadTimeout((int) PATIENCE.toMillis());
            if (connection.getResponseCode() == READY) {
                return Finding.ok("daemon", "ready, at " + at);
            }
            // Null where the answer has no body.
            try (InputStream said =
                    Optional.ofNullable(connection.getErrorStream()).orElseGet(InputStream::nullInputStream)) {
                String reasons = new String(said.readNBytes(2_000), StandardCharsets.UTF_8);
                return Finding.fail("daemon", "not ready: " + reasons.strip().replace('\n', ';'), "its log says more");
            }
        } catch (IOException | IllegalArgumentException nobody) {
            return Finding.warn(
                    "daemon",
                    "nobody answers at " + at,
                    "start it; where it runs, set GPUFLEET_HTTP_PORT as it has it");
        }
    }
}
