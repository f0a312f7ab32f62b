/** Drains nodes that are out of service: evicts pods, one step at a time for each node. */
@NullMarked
package io.gpufleet.health.app.drain;

import org.jspecify.annotations.NullMarked;
