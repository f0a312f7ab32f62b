/** The command line and its terminal output: manual pages, tables, JSON. */
@NullMarked
package io.gpufleet.nodedaemon.cli;

import org.jspecify.annotations.NullMarked;
