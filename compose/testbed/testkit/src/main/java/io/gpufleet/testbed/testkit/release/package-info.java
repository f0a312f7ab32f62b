/** Replicas of releases that are not the present one. */
@NullMarked
package io.gpufleet.testbed.testkit.release;

import org.jspecify.annotations.NullMarked;
