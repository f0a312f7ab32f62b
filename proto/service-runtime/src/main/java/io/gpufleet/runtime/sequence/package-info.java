/** Sequences of events that a state contains already: duplicates, gaps, replaced machines. No Kafka client enters. */
@NullMarked
package io.gpufleet.runtime.sequence;

import org.jspecify.annotations.NullMarked;
