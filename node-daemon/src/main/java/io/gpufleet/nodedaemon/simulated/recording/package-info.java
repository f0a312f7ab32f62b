/** What a device source said, line by line in a file, and played again; knows the port and its values, no driver. */
@NullMarked
package io.gpufleet.nodedaemon.simulated.recording;

import org.jspecify.annotations.NullMarked;
