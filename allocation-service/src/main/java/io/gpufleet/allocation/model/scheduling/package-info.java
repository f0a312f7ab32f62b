/**
 * Requests of a pod and the nodes on which it may be scheduled, as the Kubernetes scheduler reads them. JDK
 * only.
 */
@NullMarked
package io.gpufleet.allocation.model.scheduling;

import org.jspecify.annotations.NullMarked;
