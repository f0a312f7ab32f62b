/** Readers of one topic beside the projection, on any replica. */
@NullMarked
package io.gpufleet.runtime.follower;

import org.jspecify.annotations.NullMarked;
