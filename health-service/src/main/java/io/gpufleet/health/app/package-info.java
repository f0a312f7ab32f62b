/**
 * The store of all node states with its single writer, and the reconciler that patches Nodes. Declares the ports that
 * adapters implement.
 */
@NullMarked
package io.gpufleet.health.app;

import org.jspecify.annotations.NullMarked;
