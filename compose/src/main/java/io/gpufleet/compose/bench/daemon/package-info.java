/** A device plugin measured as a kubelet meets it: ours, and any other beside it. No library may sit in the measured path. */
@NullMarked
package io.gpufleet.compose.bench.daemon;

import org.jspecify.annotations.NullMarked;
