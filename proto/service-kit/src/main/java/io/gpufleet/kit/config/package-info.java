/** Environment variables to validated values; a wrong one stops the start with one line. No business word enters. */
@NullMarked
package io.gpufleet.kit.config;

import org.jspecify.annotations.NullMarked;
