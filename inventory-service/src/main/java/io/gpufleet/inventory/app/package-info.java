/** The single writer of the image, the loss watch, the label reconciler, and the ports they need. */
@NullMarked
package io.gpufleet.inventory.app;

import org.jspecify.annotations.NullMarked;
