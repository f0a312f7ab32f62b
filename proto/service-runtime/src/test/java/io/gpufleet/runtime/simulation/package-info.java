/**
 * A broker, a clock and threads that one seed determines: replicas run the engine's own code against them, one step at a
 * time, so that every failure can be repeated.
 */
@NullMarked
package io.gpufleet.runtime.simulation;

import org.jspecify.annotations.NullMarked;
