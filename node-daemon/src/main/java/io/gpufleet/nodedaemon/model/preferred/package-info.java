/** Chooses the available devices with the best affinity for a container; a pure function of the scanned GPUs. JDK only. */
@NullMarked
package io.gpufleet.nodedaemon.model.preferred;

import org.jspecify.annotations.NullMarked;
