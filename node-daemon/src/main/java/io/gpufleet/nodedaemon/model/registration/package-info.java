/** The registration state machine of one resource with the kubelet. JDK only. */
@NullMarked
package io.gpufleet.nodedaemon.model.registration;

import org.jspecify.annotations.NullMarked;
