/** The two single writers, ledger and quota decider, and their ports. */
@NullMarked
package io.gpufleet.allocation.app;

import org.jspecify.annotations.NullMarked;
