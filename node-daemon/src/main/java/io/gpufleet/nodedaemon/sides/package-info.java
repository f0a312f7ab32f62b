/**
 * Programs beside the daemon on the same node, met through files only: MPS control daemons and driver installers. What
 * they say is handed in as their state; what follows from it is decided elsewhere.
 */
@NullMarked
package io.gpufleet.nodedaemon.sides;

import org.jspecify.annotations.NullMarked;
