/** Records as Kafka's clients move them: size, text keys, dead letters. */
@NullMarked
package io.gpufleet.runtime.record;

import org.jspecify.annotations.NullMarked;
