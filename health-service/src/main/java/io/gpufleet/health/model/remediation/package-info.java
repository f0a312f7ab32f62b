/** Actions that executors outside gpufleet are asked for, and how far they are. */
@NullMarked
package io.gpufleet.health.model.remediation;

import org.jspecify.annotations.NullMarked;
