/** The composition root of the daemon: reads the configuration, creates the parts of the daemon, starts and stops them. */
@NullMarked
package io.gpufleet.nodedaemon;

import org.jspecify.annotations.NullMarked;
