/** Kubernetes through fabric8: the watch of Node objects, and labels by server-side apply. */
@NullMarked
package io.gpufleet.inventory.kubernetes;

import org.jspecify.annotations.NullMarked;
