/** Benchmark of the projection engine on a broker of its own. */
@NullMarked
package io.gpufleet.bench.projection;

import org.jspecify.annotations.NullMarked;
