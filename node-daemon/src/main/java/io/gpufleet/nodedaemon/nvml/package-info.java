/** NVML as a device source: reports what it read and what it noticed, and judges nothing. Handles never leave the package. */
@NullMarked
package io.gpufleet.nodedaemon.nvml;

import org.jspecify.annotations.NullMarked;
