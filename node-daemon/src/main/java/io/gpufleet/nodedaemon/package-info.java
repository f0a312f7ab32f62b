/** The composition root of the node's daemon: reads the configuration, news the rooms, starts and stops them. */
@NullMarked
package io.gpufleet.nodedaemon;

import org.jspecify.annotations.NullMarked;
