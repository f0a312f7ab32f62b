/** Benchmark of the health-service on a fleet of many nodes. */
@NullMarked
package io.gpufleet.bench.health;

import org.jspecify.annotations.NullMarked;
