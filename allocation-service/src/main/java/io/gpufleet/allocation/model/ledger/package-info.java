/** Holders of devices over time: facts folded into intervals, exact to the second. Pure. */
@NullMarked
package io.gpufleet.allocation.model.ledger;

import org.jspecify.annotations.NullMarked;
