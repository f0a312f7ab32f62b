/** The inventory over gRPC, with health and reflection, on every replica. */
@NullMarked
package io.gpufleet.inventory.grpc;

import org.jspecify.annotations.NullMarked;
