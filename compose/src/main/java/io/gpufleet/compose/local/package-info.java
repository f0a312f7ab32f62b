/** The fleet on this machine as one thing: started, found and ended, with what Kafka and Kubernetes need. */
@NullMarked
package io.gpufleet.compose.local;

import org.jspecify.annotations.NullMarked;
