/** Main class of the allocation-service. */
@NullMarked
package io.gpufleet.allocation;

import org.jspecify.annotations.NullMarked;
