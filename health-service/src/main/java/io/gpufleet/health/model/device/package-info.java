/** The state machine of one device: states, transitions, target health. JDK only; time is a parameter. */
@NullMarked
package io.gpufleet.health.model.device;

import org.jspecify.annotations.NullMarked;
