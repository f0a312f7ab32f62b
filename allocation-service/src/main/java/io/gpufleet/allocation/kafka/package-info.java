/** Speaks the bus: folds facts into the ledger, reads usage, sends what was seen of pods. */
@NullMarked
package io.gpufleet.allocation.kafka;

import org.jspecify.annotations.NullMarked;
