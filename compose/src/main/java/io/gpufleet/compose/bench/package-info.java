/** Benchmarks: a frame that writes figures, and what fills it. */
@NullMarked
package io.gpufleet.compose.bench;

import org.jspecify.annotations.NullMarked;
