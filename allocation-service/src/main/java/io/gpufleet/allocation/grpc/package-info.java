/** gRPC between replicas: a standby forwards AdmissionReviews to the active replica. */
@NullMarked
package io.gpufleet.allocation.grpc;

import org.jspecify.annotations.NullMarked;
