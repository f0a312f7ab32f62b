/** Leadership, the lease of a term, resigning, and the broker: its clock, and whether it answers. No Kafka client enters. */
@NullMarked
package io.gpufleet.runtime.leadership;

import org.jspecify.annotations.NullMarked;
