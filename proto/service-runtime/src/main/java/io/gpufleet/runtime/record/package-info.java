/**
 * Records as Kafka's clients move them: size, text keys, offsets of the inputs, dead letters and their replays.
 */
@NullMarked
package io.gpufleet.runtime.record;

import org.jspecify.annotations.NullMarked;
