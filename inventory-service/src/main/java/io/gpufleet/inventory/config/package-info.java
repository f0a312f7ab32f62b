/** Configuration read from the environment, as one validated record. */
@NullMarked
package io.gpufleet.inventory.config;

import org.jspecify.annotations.NullMarked;
