/**
 * The quota leader: its election by a Lease, the one thread that counts and decides, and the calls to the API server beside
 * it.
 */
@NullMarked
package io.gpufleet.allocation.app.quota;

import org.jspecify.annotations.NullMarked;
