/** Events of a whole fleet in the order of their append times, as a service met them. */
@NullMarked
package io.gpufleet.health.kafka.history;

import org.jspecify.annotations.NullMarked;
