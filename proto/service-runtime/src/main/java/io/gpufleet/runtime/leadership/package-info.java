/** Leadership, the lease of a term, resigning, and the clock of the broker. No Kafka client enters. */
@NullMarked
package io.gpufleet.runtime.leadership;

import org.jspecify.annotations.NullMarked;
