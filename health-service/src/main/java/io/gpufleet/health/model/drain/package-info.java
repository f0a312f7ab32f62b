/** Which pods have to leave a node that is out of service, when and how. Knows no Kubernetes client. */
@NullMarked
package io.gpufleet.health.model.drain;

import org.jspecify.annotations.NullMarked;
