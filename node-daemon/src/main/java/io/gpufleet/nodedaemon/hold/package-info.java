/** The files by which programs on the node request that the daemon releases the GPUs. */
@NullMarked
package io.gpufleet.nodedaemon.hold;

import org.jspecify.annotations.NullMarked;
