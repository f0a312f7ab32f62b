/** Benchmark of a local fleet: start, fault to taint, memory, restart. */
@NullMarked
package io.gpufleet.bench.fleet;

import org.jspecify.annotations.NullMarked;
