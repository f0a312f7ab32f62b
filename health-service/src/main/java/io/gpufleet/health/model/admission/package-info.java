/** Limits of drains and remediations over all nodes, as the one writer keeps them. */
@NullMarked
package io.gpufleet.health.model.admission;

import org.jspecify.annotations.NullMarked;
