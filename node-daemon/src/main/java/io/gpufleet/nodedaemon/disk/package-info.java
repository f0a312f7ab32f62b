/** What the daemon keeps of its devices over a restart, as files. */
@NullMarked
package io.gpufleet.nodedaemon.disk;

import org.jspecify.annotations.NullMarked;
