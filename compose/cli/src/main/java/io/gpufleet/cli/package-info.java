/** The subcommands of the command line. */
@NullMarked
package io.gpufleet.cli;

import org.jspecify.annotations.NullMarked;
