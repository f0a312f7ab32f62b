/** State that is kept over a restart: open faults and known GPUs, the rate limit of restarts, the ignore-verdicts file. */
@NullMarked
package io.gpufleet.nodedaemon.state;

import org.jspecify.annotations.NullMarked;
