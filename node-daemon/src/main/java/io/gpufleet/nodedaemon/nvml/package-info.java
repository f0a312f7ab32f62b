/** Turns NVML's return codes into facts; handles never leave, no null and no -1 comes out. */
@NullMarked
package io.gpufleet.nodedaemon.nvml;

import org.jspecify.annotations.NullMarked;
