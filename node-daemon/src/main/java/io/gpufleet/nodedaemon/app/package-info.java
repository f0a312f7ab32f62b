/** The watch loop: orders, retries, keeps time and state; speaks through the ports that it declares. */
@NullMarked
package io.gpufleet.nodedaemon.app;

import org.jspecify.annotations.NullMarked;
