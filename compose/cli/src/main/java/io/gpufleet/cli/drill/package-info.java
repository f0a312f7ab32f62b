/** Drills: something is done to the running fleet, and what must hold meanwhile and afterwards is measured. */
@NullMarked
package io.gpufleet.cli.drill;

import org.jspecify.annotations.NullMarked;
