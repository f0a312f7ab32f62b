package io.gpufleet.health;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The program as a process of its own, as it runs in production; its output goes to a file. */
final class ServiceProcess implements AutoCloseable {
    private final Path output;
    private final Process process;
    private final int port;
    private final HttpClient http = HttpClient.newHttpClient();

    private ServiceProcess(Path output, Process process, int port) {
        this.output = output;
        this.process = process;
        this.port = port;
    }

    /** Starts with these variables and those that every start needs. */
    static ServiceProcess start(Path dir, Map<String, String> variables) {
        try {
            Path output = Files.createTempFile(dir, "health-service", ".log");
            int port = freePort();
            var builder =
                    new ProcessBuilder(command()).redirectErrorStream(true).redirectOutput(output.toFile());
            builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_") || name.equals("KUBECONFIG"));
            var environment = new HashMap<>(Map.of(
                    "GPUFLEET_CLUSTER", "c1",
                    "GPUFLEET_HTTP_HOST", "127.0.0.1",
                    "GPUFLEET_HTTP_PORT", Integer.toString(port),
                    "GPUFLEET_SESSION_TIMEOUT", "2s"));
            environment.putAll(variables);
            builder.environment().putAll(environment);
            Process process = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "service-end"));
            return new ServiceProcess(output, process, port);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static List<String> command() {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-cp",
                "target/classes:target/lib/*",
                HealthMain.class.getName()));
        return command;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** What an HTTP path answers: status and body; 0 and nothing while it does not answer. */
    Answer get(String path) {
        return ask(HttpRequest.newBuilder(uri(path)).GET().build());
    }

    /** What a word answers. */
    Answer post(String path, String token, String body) {
        var request = HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.ofString(body));
        if (!token.isEmpty()) {
            request.header("authorization", "Bearer " + token);
        }
        return ask(request.build());
    }

    private Answer ask(HttpRequest request) {
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException notYet) {
            return new Answer(0, "");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return new Answer(0, "");
        }
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    /** An HTTP answer. */
    record Answer(int status, String body) {}

    boolean ready() {
        return get("/readyz").status() == 200;
    }

    boolean active() {
        return get("/metrics").body().contains("gpufleet_active 1.0");
    }

    /** Everything it has said. */
    String said() {
        try {
            return Files.readString(output);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** SIGKILL; returns when it is dead. */
    void kill() {
        process.destroyForcibly();
        join();
    }

    /** Waits for its end and hands back the exit code. */
    int join() {
        try {
            return process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public void close() {
        process.destroy();
        join();
    }
}
