package io.gpufleet.proto.kubelet;

import io.netty.buffer.ByteBuf;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Assembles the one length-prefixed message of a gRPC request or response from DATA frames. */
final class GrpcMessageReader {
    /** Flag of a compressed message, and length, before every message. */
    static final int PREFIX = 5;

    private static final int UNKNOWN = -1;

    private int length = UNKNOWN;
    /** The prefix and a part of the message, or the whole message without the prefix. */
    private byte[] bytes = {};

    private int size;
    private boolean whole;

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

    /** Adds the bytes of a frame; whether the message is whole. What follows a whole message is not kept. */
    boolean add(ByteBuf data) throws RefusedMessageException {
        if (whole) {
            return true;
        }
        if (bytes.length == 0 && data.readableBytes() >= PREFIX) {
            length = length(data.getByte(data.readerIndex()), data.getInt(data.readerIndex() + 1));
            if (data.readableBytes() >= PREFIX + length) {
                return complete(bytes(data, data.readerIndex() + PREFIX, length));
            }
        }
        append(data);
        if (length == UNKNOWN && size >= PREFIX) {
            ByteBuffer prefix = ByteBuffer.wrap(bytes);
            length = length(prefix.get(), prefix.getInt());
        }
        return length != UNKNOWN
                && size >= PREFIX + length
                && complete(Arrays.copyOfRange(bytes, PREFIX, PREFIX + length));
    }

    private void append(ByteBuf data) {
        int more = data.readableBytes();
        if (bytes.length < size + more) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * size));
        }
        data.getBytes(data.readerIndex(), bytes, size, more);
        size += more;
    }

    private boolean complete(byte[] message) {
        bytes = message;
        whole = true;
        return true;
    }

    /** Whether the message is whole. */
    boolean isWhole() {
        return whole;
    }

    /** The message, once it is whole. */
    byte[] message() {
        return bytes;
    }

    private static int length(byte compressed, int length) throws RefusedMessageException {
        if (compressed != 0) {
            throw new RefusedMessageException(GrpcStatus.UNIMPLEMENTED, "compressed messages are not supported");
        }
        if (length < 0 || length > UnixSocketGrpc.MAX_MESSAGE_SIZE) {
            throw new RefusedMessageException(
                    GrpcStatus.RESOURCE_EXHAUSTED,
                    "a message of " + Integer.toUnsignedString(length) + " bytes is larger than "
                            + UnixSocketGrpc.MAX_MESSAGE_SIZE);
        }
        return length;
    }

    private static byte[] bytes(ByteBuf data, int from, int length) {
        byte[] bytes = new byte[length];
        data.getBytes(from, bytes);
        return bytes;
    }
}
