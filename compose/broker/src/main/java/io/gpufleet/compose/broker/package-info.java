/** A real Kafka broker as a process of its own, from the jars that the build copied; JDK only. */
@NullMarked
package io.gpufleet.compose.broker;

import org.jspecify.annotations.NullMarked;
