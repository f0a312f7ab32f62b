/** Speaks to the API server by fabric8: quotas, pods, nodes, namespaces, the webhook's own configuration and Secret. */
@NullMarked
package io.gpufleet.allocation.kubernetes;

import org.jspecify.annotations.NullMarked;
