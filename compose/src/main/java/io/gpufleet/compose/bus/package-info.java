/** What the command line shows of the bus. */
@NullMarked
package io.gpufleet.compose.bus;

import org.jspecify.annotations.NullMarked;
