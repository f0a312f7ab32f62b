/** Environment variables as validated values; an invalid one stops the start with one line. No business terms. */
@NullMarked
package io.gpufleet.kit.config;

import org.jspecify.annotations.NullMarked;
