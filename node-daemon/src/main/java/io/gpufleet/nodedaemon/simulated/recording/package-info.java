/** Recordings of a device source as JSON lines, and their replay. */
@NullMarked
package io.gpufleet.nodedaemon.simulated.recording;

import org.jspecify.annotations.NullMarked;
