/** Start and stop of a fleet on this machine, with topics and custom resource definitions. */
@NullMarked
package io.gpufleet.cli.local;

import org.jspecify.annotations.NullMarked;
