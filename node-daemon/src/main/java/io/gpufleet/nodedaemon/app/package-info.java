/** The node loop with its state, timers and retries, and the ports that adapters implement. Imports the model and no adapter. */
@NullMarked
package io.gpufleet.nodedaemon.app;

import org.jspecify.annotations.NullMarked;
