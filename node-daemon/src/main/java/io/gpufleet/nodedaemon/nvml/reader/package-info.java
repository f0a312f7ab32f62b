/** Readers of NVML: each maps calls to readings of one kind, and judges nothing. */
@NullMarked
package io.gpufleet.nodedaemon.nvml.reader;

import org.jspecify.annotations.NullMarked;
