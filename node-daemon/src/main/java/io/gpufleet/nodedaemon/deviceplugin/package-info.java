/** The kubelet's device plugin API over unix sockets: registration, ListAndWatch, Allocate. */
@NullMarked
package io.gpufleet.nodedaemon.deviceplugin;

import org.jspecify.annotations.NullMarked;
