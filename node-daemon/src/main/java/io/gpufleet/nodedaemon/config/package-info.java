/** The environment variables of the daemon as validated records. */
@NullMarked
package io.gpufleet.nodedaemon.config;

import org.jspecify.annotations.NullMarked;
