/**
 * Benchmark of device plugins by a kubelet of sockets and frames; no library is in the measured path.
 */
@NullMarked
package io.gpufleet.bench.daemon;

import org.jspecify.annotations.NullMarked;
