/** Devices that do not exist, chosen by name and never by accident; faults come from files in a directory. */
@NullMarked
package io.gpufleet.nodedaemon.simulated;

import org.jspecify.annotations.NullMarked;
