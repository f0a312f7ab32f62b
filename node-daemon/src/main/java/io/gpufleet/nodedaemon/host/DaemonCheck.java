package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** Checks the daemon that runs on this node. */
public final class DaemonCheck {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int READY = 200;

    private DaemonCheck() {}

    /** Checks whether it is ready; {@code host} is the value of GPUFLEET_HTTP_HOST. */
    public static DoctorFinding ready(String host, int port) {
        String at = (host.equals("0.0.0.0") ? "127.0.0.1" : host) + ":" + port;
        try {
            var connection = (HttpURLConnection)
                    URI.create("http://" + at + "/readyz").toURL().openConnection();
            connection.setConnectTimeout((int) TIMEOUT.toMillis());
            connection.setReadTimeout((int) TIMEOUT.toMillis());
            if (connection.getResponseCode() == READY) {
                return DoctorFinding.ok("daemon", "ready, at " + at);
            }
            // Null where the response has no body.
            try (InputStream body =
                    Optional.ofNullable(connection.getErrorStream()).orElseGet(InputStream::nullInputStream)) {
                String reasons = new String(body.readNBytes(2_000), StandardCharsets.UTF_8);
                return DoctorFinding.fail(
                        "daemon", "not ready: " + reasons.strip().replace('\n', ';'), "see its log");
            }
        } catch (IOException | IllegalArgumentException unreachable) {
            return DoctorFinding.warn(
                    "daemon", "no response at " + at, "start it; if it runs, set GPUFLEET_HTTP_PORT to its port");
        }
    }
}
