/** The files by which programs on the node ask for the GPUs; no device is touched here. */
@NullMarked
package io.gpufleet.nodedaemon.holdfiles;

import org.jspecify.annotations.NullMarked;
