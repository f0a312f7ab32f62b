/** Kafka: the projection of facts into the ledger, sums of usage, facts about pods. */
@NullMarked
package io.gpufleet.allocation.kafka;

import org.jspecify.annotations.NullMarked;
