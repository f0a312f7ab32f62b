/** API server through fabric8: quotas, pods, Nodes, namespaces, and configuration and Secret of the webhook. */
@NullMarked
package io.gpufleet.allocation.kubernetes;

import org.jspecify.annotations.NullMarked;
