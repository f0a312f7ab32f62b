/** Faults of this node: observation, open faults, proof of recovery, and what the kubelet is offered. JDK only. */
@NullMarked
package io.gpufleet.nodedaemon.model.fault;

import org.jspecify.annotations.NullMarked;
