/** Prometheus pages: metrics with names, labels and units of dcgm-exporter, and the daemon's own metrics. */
@NullMarked
package io.gpufleet.nodedaemon.metrics;

import org.jspecify.annotations.NullMarked;
