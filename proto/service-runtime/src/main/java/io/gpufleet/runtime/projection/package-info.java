/**
 * The interfaces that a central service is written on: pure functions over immutable states, and an actor that acts on
 * what is committed. Nothing here speaks to Kafka; the engine that does is in {@code io.gpufleet.runtime.engine}.
 */
@NullMarked
package io.gpufleet.runtime.projection;

import org.jspecify.annotations.NullMarked;
