/** Incidents: what a fault led to, from the decisions on the log. */
@NullMarked
package io.gpufleet.health.model.incident;

import org.jspecify.annotations.NullMarked;
