package io.gpufleet.proto.kubelet;

import io.vertx.grpc.common.GrpcStatus;

/** A call ended with a status that is not OK. */
public final class GrpcStatusException extends Exception {
    private static final long serialVersionUID = 1;

    private final GrpcStatus status;

    GrpcStatusException(GrpcStatus status, String message) {
        super(message.isEmpty() ? status.name() : status.name() + ": " + message);
        this.status = status;
    }

    /** Returns the status. */
    public GrpcStatus status() {
        return status;
    }
}
