package io.gpufleet.proto.kubelet;

import com.google.protobuf.InvalidProtocolBufferException;

/** Reads the requests of a method. */
@FunctionalInterface
interface RequestReader<R> {
    /** Reads the bytes of a request. */
    R read(byte[] message) throws InvalidProtocolBufferException;
}
