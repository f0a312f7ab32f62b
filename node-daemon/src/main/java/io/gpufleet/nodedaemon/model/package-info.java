/** Devices, faults, offers and what follows from them; JDK only, told the time. */
@NullMarked
package io.gpufleet.nodedaemon.model;

import org.jspecify.annotations.NullMarked;
