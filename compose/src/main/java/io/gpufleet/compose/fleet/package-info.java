/** What the local fleet consists of, and its processes from start to end. */
@NullMarked
package io.gpufleet.compose.fleet;

import org.jspecify.annotations.NullMarked;
