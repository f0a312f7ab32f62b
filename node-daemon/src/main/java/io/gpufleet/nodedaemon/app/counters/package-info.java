/** Counters and latency histograms that the adapters fill and the metrics page reads. */
@NullMarked
package io.gpufleet.nodedaemon.app.counters;

import org.jspecify.annotations.NullMarked;
