/** Plan, processes, ports and state file of a local fleet. */
@NullMarked
package io.gpufleet.cli.fleet;

import org.jspecify.annotations.NullMarked;
