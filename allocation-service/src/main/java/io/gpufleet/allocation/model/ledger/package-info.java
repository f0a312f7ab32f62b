/** Who held which device from when to when: a pure fold of facts into intervals, exact to the second. */
@NullMarked
package io.gpufleet.allocation.model.ledger;

import org.jspecify.annotations.NullMarked;
