/** gRPC over the Unix sockets of one node, as the kubelet and its plugins speak it. */
@NullMarked
package io.gpufleet.proto.kubelet;

import org.jspecify.annotations.NullMarked;
