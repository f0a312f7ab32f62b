/** Reads what the host provides: /proc, cgroups, /dev; and the checks of {@code doctor}, which change nothing. */
@NullMarked
package io.gpufleet.nodedaemon.host;

import org.jspecify.annotations.NullMarked;
