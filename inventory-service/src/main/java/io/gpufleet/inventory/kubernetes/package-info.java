/** Kubernetes through fabric8: Node objects as they are seen, and labels by server-side apply. */
@NullMarked
package io.gpufleet.inventory.kubernetes;

import org.jspecify.annotations.NullMarked;
