/** Whether a node is heard: its daemon on the bus, its kubelet by the condition Ready. Silence takes nothing out of service. */
@NullMarked
package io.gpufleet.health.model.presence;

import org.jspecify.annotations.NullMarked;
