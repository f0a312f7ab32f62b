/** GPUs, MIG instances and their readings; JDK only, no clock of its own. */
@NullMarked
package io.gpufleet.nodedaemon.model.device;

import org.jspecify.annotations.NullMarked;
