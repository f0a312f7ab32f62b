package io.gpufleet.testbed.testkit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.StreamSupport;

/**
 * One replica's way to the API server: records its writes in the order of the server, and how often it read a single Node, and
 * withholds writes when asked to.
 */
public final class TracedApiServer implements AutoCloseable {
    private static final String NODES = "/api/v1/nodes/";
    private static final List<String> FORWARDED = List.of("Authorization", "Content-Type", "Accept");

    private final Trace trace;
    private final String replica;
    private final String target;
    private final HttpClient client;
    private final HttpServer server;

    /**
     * A write that the API server answered.
     *
     * @param path without its query
     * @param body as it was sent
     * @param answer what the server said about it
     */
    public record Write(String replica, String method, String path, String body, int status, String answer) {
        /** True where the API server did what was asked. */
        public boolean succeeded() {
            return status / 100 == 2;
        }

        /** True where it adds a taint to this Node. */
        public boolean addsTaint(String node) {
            return isOf(node) && changesTaints("add");
        }

        /** True where it removes a taint of this Node. */
        public boolean removesTaint(String node) {
            return isOf(node) && changesTaints("remove");
        }

        private boolean changesTaints(String operation) {
            try {
                return StreamSupport.stream(new ObjectMapper().readTree(body).spliterator(), false)
                        .anyMatch(step -> step.path("op").asText().equals(operation)
                                && step.path("path").asText().startsWith("/spec/taints"));
            } catch (JsonProcessingException failed) {
                throw new UncheckedIOException(failed);
            }
        }

        /** True unless it is about the status, which is another resource. */
        public boolean ofNodeItself() {
            return path.startsWith(NODES) && !path.endsWith("/status");
        }

        private boolean isOf(String node) {
            return succeeded() && path.equals(NODES + node);
        }
    }

    /** The writes of all replicas. */
    public static final class Trace {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition released = lock.newCondition();
        private final List<Write> answered = new ArrayList<>();
        private final List<String> asked = new ArrayList<>();
        private final List<String> reads = new ArrayList<>();
        private final boolean inOrder;
        private String held = "";
        private String hung = "";

        /** A trace in the order of the server, which handles one write after the other. */
        public Trace() {
            this(true);
        }

        private Trace(boolean inOrder) {
            this.inOrder = inOrder;
        }

        /** A trace in the order of the answers; no write waits for another one. */
        public static Trace concurrent() {
            return new Trace(false);
        }

        /** Writes of this replica reach the server no more. */
        public void hold(String replica) {
            locked(() -> held = replica);
        }

        /** No write of this replica, of whatever object, reaches the server any more. */
        public void hang(String replica) {
            locked(() -> hung = replica);
        }

        /** Lets reach the server now what was withheld. */
        public void release() {
            locked(() -> {
                held = "";
                hung = "";
                released.signalAll();
            });
        }

        /** Writes answered so far. */
        public List<Write> answered() {
            var copy = new ArrayList<Write>();
            locked(() -> copy.addAll(answered));
            return copy;
        }

        /** Replicas whose writes succeeded, each as often as it wrote after another one. */
        public List<String> writersInTurn() {
            var turns = new ArrayList<String>();
            answered().stream().filter(Write::succeeded).map(Write::replica).forEach(replica -> {
                if (turns.isEmpty() || !turns.getLast().equals(replica)) {
                    turns.add(replica);
                }
            });
            return turns;
        }

        /** Paths of the single Nodes that were read, besides the list and the watch of all. */
        public List<String> reads() {
            var copy = new ArrayList<String>();
            locked(() -> copy.addAll(reads));
            return copy;
        }

        /** How many writes of Nodes the replica has asked for, answered or not. */
        public long asked(String replica) {
            var count = new long[1];
            locked(() -> count[0] = asked.stream().filter(replica::equals).count());
            return count[0];
        }

        private void locked(Runnable action) {
            lock.lock();
            try {
                action.run();
            } finally {
                lock.unlock();
            }
        }
    }

    private TracedApiServer(Trace trace, String replica, String target, HttpClient client) throws IOException {
        this.trace = trace;
        this.replica = replica;
        this.target = target;
        this.client = client;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    /** Leads to an API server without TLS. */
    public static TracedApiServer open(Trace trace, String replica, String target) {
        return open(trace, replica, target, HttpClient.newBuilder());
    }

    /** Leads to an API server that a client of this kind trusts. */
    public static TracedApiServer open(Trace trace, String replica, String target, HttpClient.Builder client) {
        try {
            return new TracedApiServer(
                    trace,
                    replica,
                    target,
                    client.version(HttpClient.Version.HTTP_1_1).build());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** A kubeconfig like another one that leads here. */
    public Path kubeconfig(Path original, Path file) throws IOException {
        return Files.writeString(file, Files.readString(original).replace(target, url()));
    }

    /** A kubeconfig that leads here with a token. */
    public Path kubeconfig(String token, Path file) throws IOException {
        return Files.writeString(file, """
                apiVersion: v1
                kind: Config
                clusters: [{name: traced, cluster: {server: "%s"}}]
                users: [{name: traced, user: {token: "%s"}}]
                contexts: [{name: traced, context: {cluster: traced, user: traced}}]
                current-context: traced
                """.formatted(url(), token));
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
                // Without a WebSocket the client watches by a plain request. An offer of HTTP/2 is ignored.
                exchange.sendResponseHeaders(503, -1);
                return;
            }
            byte[] body = exchange.getRequestBody().readAllBytes();
            boolean write = !exchange.getRequestMethod().equals("GET");
            String path = exchange.getRequestURI().getPath();
            if (!write && path.startsWith(NODES)) {
                trace.locked(() -> trace.reads.add(path));
            }
            if (write) {
                HttpResponse<byte[]> response = write(exchange, body);
                answer(exchange, response, new ByteArrayInputStream(response.body()));
            } else {
                HttpResponse<InputStream> response = send(exchange, body, HttpResponse.BodyHandlers.ofInputStream());
                answer(exchange, response, response.body());
            }
        }
    }

    private static void answer(HttpExchange exchange, HttpResponse<?> response, InputStream body) throws IOException {
        response.headers()
                .firstValue("content-type")
                .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
        exchange.sendResponseHeaders(response.statusCode(), 0);
        try (body;
                OutputStream to = exchange.getResponseBody()) {
            var buffer = new byte[8_192];
            for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
                to.write(buffer, 0, read);
                to.flush();
            }
        }
    }

    private HttpResponse<byte[]> write(HttpExchange exchange, byte[] body) throws IOException {
        String path = exchange.getRequestURI().getPath();
        boolean ofNode = path.startsWith(NODES) && !path.endsWith("gpufleet-warm-up.invalid");
        String query = exchange.getRequestURI().getRawQuery();
        boolean dryRun = query != null && query.contains("dryRun");
        trace.lock.lock();
        try {
            if (ofNode && !dryRun) {
                trace.asked.add(replica);
            }
            while (ofNode && trace.held.equals(replica) || trace.hung.equals(replica)) {
                trace.released.awaitUninterruptibly();
            }
            if (!trace.inOrder) {
                trace.lock.unlock();
            }
            HttpResponse<byte[]> response = send(exchange, body, HttpResponse.BodyHandlers.ofByteArray());
            if (ofNode && !dryRun) {
                var write = new Write(
                        replica,
                        exchange.getRequestMethod(),
                        path,
                        new String(body, StandardCharsets.UTF_8),
                        response.statusCode(),
                        new String(response.body(), StandardCharsets.UTF_8));
                trace.locked(() -> trace.answered.add(write));
            }
            return response;
        } finally {
            if (trace.lock.isHeldByCurrentThread()) {
                trace.lock.unlock();
            }
        }
    }

    private <T> HttpResponse<T> send(HttpExchange exchange, byte[] body, HttpResponse.BodyHandler<T> handler)
            throws IOException {
        var request = HttpRequest.newBuilder(
                        URI.create(target + exchange.getRequestURI().toString()))
                .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
        FORWARDED.forEach(name -> exchange.getRequestHeaders()
                .getOrDefault(name, List.of())
                .forEach(value -> request.header(name, value)));
        try {
            return client.send(request.build(), handler);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException(interrupted);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        client.shutdownNow();
    }
}
