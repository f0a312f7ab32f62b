/** Several programs of gpufleet together: against a real kubelet and API server, and through an outage of the broker. */
@NullMarked
package io.gpufleet.compose.cluster;

import org.jspecify.annotations.NullMarked;
