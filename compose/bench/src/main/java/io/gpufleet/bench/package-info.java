/** The command that runs a benchmark by name. */
@NullMarked
package io.gpufleet.bench;

import org.jspecify.annotations.NullMarked;
