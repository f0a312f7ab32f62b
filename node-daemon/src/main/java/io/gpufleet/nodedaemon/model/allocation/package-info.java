/**
 * Offered devices and Allocate: the plan of resources, which devices are Healthy, and what a container gets for them.
 * JDK only.
 */
@NullMarked
package io.gpufleet.nodedaemon.model.allocation;

import org.jspecify.annotations.NullMarked;
