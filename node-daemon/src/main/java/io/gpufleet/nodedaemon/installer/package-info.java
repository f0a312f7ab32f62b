/** Driver installers on this node, seen through the status file that they write. */
@NullMarked
package io.gpufleet.nodedaemon.installer;

import org.jspecify.annotations.NullMarked;
