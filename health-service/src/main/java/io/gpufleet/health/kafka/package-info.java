/** The bus: messages to signals, conclusions to events, states to changelog records and back. */
@NullMarked
package io.gpufleet.health.kafka;

import org.jspecify.annotations.NullMarked;
