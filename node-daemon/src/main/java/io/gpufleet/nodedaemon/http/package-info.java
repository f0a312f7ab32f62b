/** The HTTP server with probes and metrics. */
@NullMarked
package io.gpufleet.nodedaemon.http;

import org.jspecify.annotations.NullMarked;
