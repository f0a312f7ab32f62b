package io.gpufleet.proto.kubelet;

import io.vertx.grpc.common.GrpcStatus;
import java.util.ArrayList;
import java.util.List;

/** A call of a client to a {@link UnixGrpcServer}. It belongs to the server's event loop. */
public final class GrpcServerCall {
    private final GrpcServerConnection connection;
    private final int stream;
    private final List<Runnable> closed = new ArrayList<>(0);
    private boolean headersSent;
    private boolean ended;

    GrpcServerCall(GrpcServerConnection connection, int stream) {
        this.connection = connection;
        this.stream = stream;
    }

    /** Answers with the only message of a unary call; one that was answered already is left as it is. */
    public void respond(byte[] message) {
        if (!ended && !headersSent && connection.respond(this, message)) {
            ended = true;
        } else if (!ended) {
            send(message);
            end();
        }
    }

    /** Sends one of several messages. */
    public void send(byte[] message) {
        send(message, () -> {});
    }

    /**
     * Sends one of several messages; the action is run when it is written, which a client delays as long as it does not read.
     * Never for a call that was ended or closed.
     */
    public void send(byte[] message, Runnable written) {
        if (!ended) {
            connection.send(this, !headersSent, message, written);
            headersSent = true;
        }
    }

    /** Ends the call with the status OK. */
    public void end() {
        end(GrpcStatus.OK, "");
    }

    /** Ends the call with an error. */
    public void refuse(GrpcStatus status, String message) {
        end(status, message);
    }

    private void end(GrpcStatus status, String message) {
        if (!ended) {
            ended = true;
            connection.end(this, !headersSent, status, message);
        }
    }

    /** Runs the action when the client has reset the stream or its connection has closed; once, and not for our own end. */
    public void onClosed(Runnable action) {
        closed.add(action);
        connection.watch(this);
    }

    void closed() {
        ended = true;
        List<Runnable> actions = List.copyOf(closed);
        closed.clear();
        actions.forEach(Runnable::run);
    }

    boolean ended() {
        return ended;
    }

    int stream() {
        return stream;
    }
}
