/** The release of all devices while an installer or an operator asks for it. JDK only. */
@NullMarked
package io.gpufleet.nodedaemon.model.hold;

import org.jspecify.annotations.NullMarked;
