/** The holders of devices, from the kubelet's podresources API and its checkpoint. */
@NullMarked
package io.gpufleet.nodedaemon.podresources;

import org.jspecify.annotations.NullMarked;
