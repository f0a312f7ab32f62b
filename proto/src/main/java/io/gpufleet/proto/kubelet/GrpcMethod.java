package io.gpufleet.proto.kubelet;

import com.google.protobuf.Parser;

/**
 * A method of a gRPC service that takes one request.
 *
 * @param path its path, {@code /package.Service/Method}
 * @param requests reads a request
 * @param responses reads a response
 */
public record GrpcMethod<Q, A>(String path, Parser<Q> requests, Parser<A> responses) {}
