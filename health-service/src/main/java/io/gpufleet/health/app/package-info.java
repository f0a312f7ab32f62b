/** The one writer that holds every node's state, and the hands that make Nodes wear what follows; speaks through ports. */
@NullMarked
package io.gpufleet.health.app;

import org.jspecify.annotations.NullMarked;
