/**
 * Event-sourced projections of topics into state: leader election, take-over, one transaction for each batch, applied
 * sequences, offsets, dead letters. A service implements {@link io.gpufleet.wire.projection.Projection}; no business
 * rules of a service are in this package.
 */
@NullMarked
package io.gpufleet.wire.projection;

import org.jspecify.annotations.NullMarked;
