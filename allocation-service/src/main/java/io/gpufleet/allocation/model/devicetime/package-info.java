/** Time of the GPUs of a node, held or not: since when each is there, and when it cannot be had. Pure. */
@NullMarked
package io.gpufleet.allocation.model.devicetime;

import org.jspecify.annotations.NullMarked;
