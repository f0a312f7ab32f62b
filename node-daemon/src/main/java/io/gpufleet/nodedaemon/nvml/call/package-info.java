/** Calls of NVML: thread and deadline, return codes as failures. Native types stay in {@code nvml.binding}. */
@NullMarked
package io.gpufleet.nodedaemon.nvml.call;

import org.jspecify.annotations.NullMarked;
