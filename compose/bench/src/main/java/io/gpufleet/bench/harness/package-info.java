/** The interface of benchmarks, their measurements as table and JSON. */
@NullMarked
package io.gpufleet.bench.harness;

import org.jspecify.annotations.NullMarked;
