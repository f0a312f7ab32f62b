/** Kubernetes adapter: watches and patches Nodes, records Events, authorizes operators. Only this package uses fabric8. */
@NullMarked
package io.gpufleet.health.kubernetes;

import org.jspecify.annotations.NullMarked;
