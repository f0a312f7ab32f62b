/** Faults as the models of the daemon and of the services have them: what both must read alike, without the wire. */
@NullMarked
package io.gpufleet.model.fault;

import org.jspecify.annotations.NullMarked;
