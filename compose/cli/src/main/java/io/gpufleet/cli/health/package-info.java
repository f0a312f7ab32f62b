/** What the health-service decided, for the terminal. */
@NullMarked
package io.gpufleet.cli.health;

import org.jspecify.annotations.NullMarked;
