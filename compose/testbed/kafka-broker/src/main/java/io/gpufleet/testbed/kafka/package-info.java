/** A real Kafka broker as a process, from the jars that the build copied. JDK only. */
@NullMarked
package io.gpufleet.testbed.kafka;

import org.jspecify.annotations.NullMarked;
