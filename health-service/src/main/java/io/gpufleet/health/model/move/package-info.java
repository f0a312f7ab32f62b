/** GPUs that move to another node: what is known of them goes with them. */
@NullMarked
package io.gpufleet.health.model.move;

import org.jspecify.annotations.NullMarked;
