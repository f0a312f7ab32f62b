/** CDI spec files, from which container runtimes inject our devices. */
@NullMarked
package io.gpufleet.nodedaemon.cdi;

import org.jspecify.annotations.NullMarked;
