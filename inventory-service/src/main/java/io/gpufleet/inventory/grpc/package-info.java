/** The inventory by gRPC, with health and reflection; every replica answers. */
@NullMarked
package io.gpufleet.inventory.grpc;

import org.jspecify.annotations.NullMarked;
