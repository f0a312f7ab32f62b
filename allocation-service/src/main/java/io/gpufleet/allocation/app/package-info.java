/** The two single writers, ledger and quota desk, and the ports through which they reach the world. */
@NullMarked
package io.gpufleet.allocation.app;

import org.jspecify.annotations.NullMarked;
