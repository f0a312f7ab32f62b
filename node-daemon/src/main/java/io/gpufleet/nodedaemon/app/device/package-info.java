/** The port of device sources, decorators around it, and the threads that scan and poll it. */
@NullMarked
package io.gpufleet.nodedaemon.app.device;

import org.jspecify.annotations.NullMarked;
