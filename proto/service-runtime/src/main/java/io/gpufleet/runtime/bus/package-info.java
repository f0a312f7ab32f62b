/** Settings of the bus that every central service has, and the check of its topics at the start. */
@NullMarked
package io.gpufleet.runtime.bus;

import org.jspecify.annotations.NullMarked;
