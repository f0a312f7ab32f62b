/** Decisions of the health-service, for the terminal. */
@NullMarked
package io.gpufleet.cli.health;

import org.jspecify.annotations.NullMarked;
