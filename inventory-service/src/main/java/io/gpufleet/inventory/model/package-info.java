/** The fleet as an immutable value, its deltas, and the policy for lost nodes. JDK only; time is a parameter. */
@NullMarked
package io.gpufleet.inventory.model;

import org.jspecify.annotations.NullMarked;
