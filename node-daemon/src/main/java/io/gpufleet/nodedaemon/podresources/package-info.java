/** Asks the kubelet who holds which device. */
@NullMarked
package io.gpufleet.nodedaemon.podresources;

import org.jspecify.annotations.NullMarked;
