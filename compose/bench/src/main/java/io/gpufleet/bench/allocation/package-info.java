/** Latency of admission by the allocation-service. */
@NullMarked
package io.gpufleet.bench.allocation;

import org.jspecify.annotations.NullMarked;
