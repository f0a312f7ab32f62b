/** The kernel log: what the NVIDIA driver prints there of faults. Reads {@code /dev/kmsg}, never writes; knows no NVML. */
@NullMarked
package io.gpufleet.nodedaemon.kmsg;

import org.jspecify.annotations.NullMarked;
