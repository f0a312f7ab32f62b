/** Settings of the program, read once and checked. */
@NullMarked
package io.gpufleet.allocation.config;

import org.jspecify.annotations.NullMarked;
