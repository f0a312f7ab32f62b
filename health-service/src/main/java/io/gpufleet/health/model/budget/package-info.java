/** How much may be out of service at once: modes, pools, limits, and what is out now. JDK only. */
@NullMarked
package io.gpufleet.health.model.budget;

import org.jspecify.annotations.NullMarked;
