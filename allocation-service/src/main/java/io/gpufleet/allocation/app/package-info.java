/** The committed ledger for readers, pod ends, the webhook's reconciler, and their ports. */
@NullMarked
package io.gpufleet.allocation.app;

import org.jspecify.annotations.NullMarked;
