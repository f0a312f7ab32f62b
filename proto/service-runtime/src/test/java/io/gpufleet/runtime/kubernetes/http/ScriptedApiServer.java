package io.gpufleet.runtime.kubernetes.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/** A server that answers each request by bytes of a test; an empty answer ends the connection without one. */
final class ScriptedApiServer implements AutoCloseable {
    /** An answer that says that the connection ends after it. */
    static final String OK_AND_END = "END";
    /** No answer as long as the server runs. */
    static final String NEVER = "NEVER";

    private final ServerSocket socket;
    private final Function<Received, String> script;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final List<Socket> connections = new CopyOnWriteArrayList<>();

    /** A request: the number of its connection, its first line, its headers in lower case, its body. */
    record Received(int connection, String line, List<String> headers, String body) {}

    private ScriptedApiServer(ServerSocket socket, Function<Received, String> script) {
        this.socket = socket;
        this.script = script;
        threads.execute(this::accept);
    }

    static ScriptedApiServer start(Function<Received, String> script) throws IOException {
        return start(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), script);
    }

    static ScriptedApiServer start(ServerSocket socket, Function<Received, String> script) {
        return new ScriptedApiServer(socket, script);
    }

    int port() {
        return socket.getLocalPort();
    }

    /** Requests so far. */
    List<Received> received() {
        return List.copyOf(received);
    }

    /** Ends every connection that is open, as a server does that is restarted. */
    void endConnections() throws IOException {
        for (Socket connection : connections) {
            connection.close();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = socket.accept();
                connections.add(connection);
                int number = connections.size();
                threads.execute(() -> serve(connection, number));
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket connection, int number) {
        try (connection) {
            InputStream in = new BufferedInputStream(connection.getInputStream());
            while (true) {
                Received request = read(in, number);
                received.add(request);
                String answer = script.apply(request);
                if (answer.equals(NEVER)) {
                    new Semaphore(0).acquire();
                }
                boolean last = answer.isEmpty() || answer.equals(OK_AND_END);
                if (!answer.isEmpty()) {
                    connection
                            .getOutputStream()
                            .write((last ? ok("{}").replaceFirst("\r\n", "\r\nConnection: close\r\n") : answer)
                                    .getBytes(ISO_8859_1));
                }
                if (last) {
                    return;
                }
            }
        } catch (IOException | InterruptedException ended) {
            // By the client, or by the test.
        }
    }

    private static Received read(InputStream in, int number) throws IOException {
        String line = line(in);
        List<String> headers = new CopyOnWriteArrayList<>();
        int length = 0;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            headers.add(header.toLowerCase(Locale.ROOT));
            if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                length = Integer.parseInt(header.substring(15).strip());
            }
        }
        return new Received(number, line, List.copyOf(headers), new String(in.readNBytes(length), ISO_8859_1));
    }

    private static String line(InputStream in) throws IOException {
        var line = new StringBuilder();
        for (int read = in.read(); read != '\n'; read = in.read()) {
            if (read < 0) {
                throw new IOException("the client ended the connection");
            }
            line.append((char) read);
        }
        return line.toString().strip();
    }

    static String ok(String json) {
        return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + json.length() + "\r\n\r\n"
                + json;
    }

    @Override
    public void close() throws IOException {
        socket.close();
        endConnections();
        threads.shutdownNow();
    }
}
