/** How many GPUs of which model a set of namespaces may hold, and whether one more pod fits: pure arithmetic. */
@NullMarked
package io.gpufleet.allocation.model.quota;

import org.jspecify.annotations.NullMarked;
