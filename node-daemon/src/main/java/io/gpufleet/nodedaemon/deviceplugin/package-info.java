/** The kubelet's device plugin contract over unix sockets: register, list and watch, allocate. */
@NullMarked
package io.gpufleet.nodedaemon.deviceplugin;

import org.jspecify.annotations.NullMarked;
