/** What the command line does through the Kubernetes API. */
@NullMarked
package io.gpufleet.compose.cluster;

import org.jspecify.annotations.NullMarked;
