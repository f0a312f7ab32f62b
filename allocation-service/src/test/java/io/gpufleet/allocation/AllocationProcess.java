package io.gpufleet.allocation;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;

/** The program as a process of its own, from {@code target/}. */
@NullMarked
final class AllocationProcess implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Process process;
    private final int http;

    private AllocationProcess(Process process, int http) {
        this.process = process;
        this.http = http;
    }

    static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException none) {
            throw new UncheckedIOException("no port is free", none);
        }
    }

    /** Starts a replica; the webhook port stays the same over restarts when the caller wants it. */
    static AllocationProcess start(Path log, Map<String, String> settings) {
        int http = freePort();
        var builder = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                "target/classes:target/lib/*",
                "io.gpufleet.allocation.AllocationMain"));
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        builder.environment().put("GPUFLEET_HTTP_HOST", "127.0.0.1");
        builder.environment().put("GPUFLEET_HTTP_PORT", Integer.toString(http));
        builder.environment().put("GPUFLEET_GRPC_PORT", Integer.toString(freePort()));
        builder.environment().putAll(settings);
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        try {
            return new AllocationProcess(builder.start(), http);
        } catch (IOException failed) {
            throw new UncheckedIOException("the allocation-service does not start", failed);
        }
    }

    /** Waits until it serves and decides, or serves as a standby. */
    AllocationProcess ready(boolean deciding) {
        await().atMost(SOON)
                .until(() -> process.isAlive()
                        && get("/readyz").status() == 200
                        && get("/metrics").body().contains("gpufleet_decides " + (deciding ? "1.0" : "0.0")));
        return this;
    }

    /** Status and body; status 0 where nobody answers. */
    record Answer(int status, String body) {}

    Answer get(String path) {
        try {
            HttpResponse<String> response = HTTP.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + http + path))
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException notYet) {
            return new Answer(0, "");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    /** As kill -9 does it. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public void close() {
        process.destroy();
        if (!process.onExit()
                .thenApply(ended -> true)
                .completeOnTimeout(false, 15, TimeUnit.SECONDS)
                .join()) {
            kill();
        }
    }
}
