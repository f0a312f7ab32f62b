/** Fault kinds and codes, the driver's recovery action, the recommended action, and episodes. JDK only. */
@NullMarked
package io.gpufleet.health.model.fault;

import org.jspecify.annotations.NullMarked;
