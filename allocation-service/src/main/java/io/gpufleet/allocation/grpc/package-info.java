/** How a standby hands an admission question to the active replica. */
@NullMarked
package io.gpufleet.allocation.grpc;

import org.jspecify.annotations.NullMarked;
