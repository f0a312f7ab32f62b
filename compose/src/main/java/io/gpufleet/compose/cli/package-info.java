/** The verbs of the command line. */
@NullMarked
package io.gpufleet.compose.cli;

import org.jspecify.annotations.NullMarked;
