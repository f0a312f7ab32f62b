/** Containers that hold devices, what is known of their pods, and which part of a GPU a device is. Pure. */
@NullMarked
package io.gpufleet.allocation.model.holding;

import org.jspecify.annotations.NullMarked;
