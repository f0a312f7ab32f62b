/** PCI devices in sysfs: addresses, NUMA nodes, PCI routes, host drivers of virtual GPUs. */
@NullMarked
package io.gpufleet.nodedaemon.sysfs;

import org.jspecify.annotations.NullMarked;
