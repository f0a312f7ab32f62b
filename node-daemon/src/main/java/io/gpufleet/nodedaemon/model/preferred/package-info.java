/** Which of the available devices a container is best given; a pure function of what enumeration has read. */
@NullMarked
package io.gpufleet.nodedaemon.model.preferred;

import org.jspecify.annotations.NullMarked;
