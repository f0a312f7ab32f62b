/** Kafka adapter: maps messages to signals, results to events, and states to changelog records and back. */
@NullMarked
package io.gpufleet.health.kafka;

import org.jspecify.annotations.NullMarked;
