/** The environment of the program as one validated record. */
@NullMarked
package io.gpufleet.inventory.config;

import org.jspecify.annotations.NullMarked;
