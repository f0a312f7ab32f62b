/** Simulated GPUs, selected by GPUFLEET_DEVICES; faults come from files in a directory. */
@NullMarked
package io.gpufleet.nodedaemon.simulated;

import org.jspecify.annotations.NullMarked;
