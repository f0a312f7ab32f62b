/** Faults that the NVIDIA driver prints to the kernel log. Reads {@code /dev/kmsg} and never writes. */
@NullMarked
package io.gpufleet.nodedaemon.kmsg;

import org.jspecify.annotations.NullMarked;
