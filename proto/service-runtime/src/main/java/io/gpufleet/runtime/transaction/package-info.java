/** Transactions of former terms that a broker has left open. */
@NullMarked
package io.gpufleet.runtime.transaction;

import org.jspecify.annotations.NullMarked;
