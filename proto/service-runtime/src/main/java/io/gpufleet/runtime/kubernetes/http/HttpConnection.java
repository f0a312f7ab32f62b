package io.gpufleet.runtime.kubernetes.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection, with TLS or without. Used by one thread at a time. */
final class HttpConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);

    private final HttpConnections.Server server;
    private final SocketChannel channel;
    private final Socket socket;
    private final HttpAnswerReader answers;
    private final LongSupplier nanos;
    private long deadline;
    private boolean hasDeadline;

    private HttpConnection(HttpConnections.Server server, SocketChannel channel, Socket socket, LongSupplier nanos)
            throws IOException {
        this.server = server;
        this.channel = channel;
        this.socket = socket;
        this.nanos = nanos;
        InputStream in = socket.getInputStream();
        this.answers = new HttpAnswerReader((buffer, offset, length) -> {
            socket.setSoTimeout(remainingMillis());
            return in.read(buffer, offset, length);
        });
    }

    /** Connects, and shakes hands where the server has TLS; its certificate must be valid for its host. */
    static HttpConnection open(
            HttpConnections.Server server, @Nullable Duration timeout, @Nullable SSLContext tls, LongSupplier nanos)
            throws IOException {
        int millis = timeout == null ? 0 : Math.toIntExact(timeout.toMillis());
        SocketChannel channel = SocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.socket().connect(new InetSocketAddress(server.host(), server.port()), millis);
            Socket socket = server.tls() ? handshaken(channel.socket(), server, millis, tls) : channel.socket();
            return new HttpConnection(server, channel, socket, nanos);
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    private static SSLSocket handshaken(
            Socket plain, HttpConnections.Server server, int millis, @Nullable SSLContext context) throws IOException {
        if (context == null) {
            throw new IOException("there is no TLS context for " + server.host());
        }
        var socket = (SSLSocket) context.getSocketFactory().createSocket(plain, server.host(), server.port(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.setSoTimeout(millis);
        socket.startHandshake();
        return socket;
    }

    HttpConnections.Server server() {
        return server;
    }

    /** Sends a request and reads its answer, for so long as the request says. */
    HttpAnswer exchange(EncodedRequest request) throws IOException {
        hasDeadline = !request.timeout().isZero();
        deadline = nanos.getAsLong() + request.timeout().toNanos();
        try {
            socket.getOutputStream().write(request.bytes());
            socket.getOutputStream().flush();
            return answers.read();
        } catch (SocketTimeoutException late) {
            throw timedOut();
        }
    }

    private int remainingMillis() throws HttpTimeoutException {
        if (!hasDeadline) {
            return 0;
        }
        long millis = (deadline - nanos.getAsLong()) / 1_000_000;
        if (millis <= 0) {
            throw timedOut();
        }
        return (int) Math.min(millis, Integer.MAX_VALUE);
    }

    private static HttpTimeoutException timedOut() {
        return new HttpTimeoutException("request timed out");
    }

    /** True where its server has closed it, or said something that nobody asked for. */
    boolean isStale() {
        try {
            channel.configureBlocking(false);
            int found = channel.read(ByteBuffer.allocate(1));
            channel.configureBlocking(true);
            return found != 0;
        } catch (IOException closed) {
            return true;
        }
    }

    /** Without the farewell of TLS, for which a thread might wait. */
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException ofNoMatter) {
            LOG.atDebug().setCause(ofNoMatter).log("connection not closed");
        }
    }
}
