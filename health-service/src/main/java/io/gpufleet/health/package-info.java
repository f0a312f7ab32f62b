/** The composition root of the health-service. */
@NullMarked
package io.gpufleet.health;

import org.jspecify.annotations.NullMarked;
