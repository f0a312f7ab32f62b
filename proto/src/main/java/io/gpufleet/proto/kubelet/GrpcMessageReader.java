package io.gpufleet.proto.kubelet;

import io.netty.buffer.ByteBuf;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Assembles the one length-prefixed message of a gRPC request or response from DATA frames. */
final class GrpcMessageReader {
    /** Flag of a compressed message, and length, before every message. */
    static final int PREFIX = 5;

    private static final byte[] NONE = {};

    private final ReceiveBudget budget;
    private final byte[] prefix = new byte[PREFIX];
    private int prefixSize;
    private int length = -1;
    /** Grows with what arrives, whatever length is announced; once the message is whole it has its length. */
    private byte[] bytes = NONE;

    private int size;
    private int budgeted;

    /** Creates a reader that takes the bytes of its message from a budget until they are {@link #take taken}. */
    GrpcMessageReader(ReceiveBudget budget) {
        this.budget = budget;
    }

    /** A message that is compressed or too large. */
    static final class RefusedMessageException extends Exception {
        private static final long serialVersionUID = 1;

        private final GrpcStatus status;

        RefusedMessageException(GrpcStatus status, String reason) {
            super(reason);
            this.status = status;
        }

        /** The status of its call. */
        GrpcStatus status() {
            return status;
        }
    }

    /**
     * Adds the bytes of a frame; whether the message is whole. What follows a whole message is not kept. The last frame takes
     * nothing from the budget, so that a call of one frame is answered however many large ones are being received.
     */
    boolean add(ByteBuf data, boolean last) throws RefusedMessageException {
        if (isWhole()) {
            return true;
        }
        int from = data.readerIndex();
        if (prefixSize < PREFIX) {
            int part = Math.min(PREFIX - prefixSize, data.readableBytes());
            data.getBytes(from, prefix, prefixSize, part);
            prefixSize += part;
            from += part;
            if (prefixSize < PREFIX) {
                return false;
            }
            length = length(ByteBuffer.wrap(prefix));
        }
        int more = Math.min(length - size, data.writerIndex() - from);
        grow(size + more, last);
        data.getBytes(from, bytes, size, more);
        size += more;
        return isWhole();
    }

    private void grow(int needed, boolean last) throws RefusedMessageException {
        if (needed > bytes.length) {
            int capacity = Math.min(length, Math.max(needed, 2 * bytes.length));
            if (last || budget.take(capacity - budgeted)) {
                budgeted = last ? budgeted : capacity;
                bytes = Arrays.copyOf(bytes, capacity);
            } else {
                throw new RefusedMessageException(
                        GrpcStatus.RESOURCE_EXHAUSTED,
                        "too many large messages are being received; make these calls one after the other");
            }
        }
    }

    /** Whether the message is whole. */
    boolean isWhole() {
        return prefixSize == PREFIX && size == length;
    }

    /** Returns the message once it is whole, else a part of it; the reader keeps none. */
    byte[] take() {
        byte[] message = bytes;
        budget.give(budgeted);
        budgeted = 0;
        bytes = NONE;
        return message;
    }

    private static int length(ByteBuffer prefix) throws RefusedMessageException {
        if (prefix.get() != 0) {
            throw new RefusedMessageException(GrpcStatus.UNIMPLEMENTED, "compressed messages are not supported");
        }
        int length = prefix.getInt();
        if (length < 0 || length > UnixSocketGrpc.MAX_MESSAGE_SIZE) {
            throw new RefusedMessageException(
                    GrpcStatus.RESOURCE_EXHAUSTED,
                    "a message of " + Integer.toUnsignedString(length) + " bytes is larger than "
                            + UnixSocketGrpc.MAX_MESSAGE_SIZE);
        }
        return length;
    }
}
