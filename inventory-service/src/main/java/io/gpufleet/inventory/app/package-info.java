/** The single writer of the fleet, the label reconciler, and their ports. */
@NullMarked
package io.gpufleet.inventory.app;

import org.jspecify.annotations.NullMarked;
