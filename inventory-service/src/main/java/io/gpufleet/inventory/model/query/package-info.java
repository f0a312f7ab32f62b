/** Filters, pages and the summary of the fleet, for REST and gRPC. JDK only. */
@NullMarked
package io.gpufleet.inventory.model.query;

import org.jspecify.annotations.NullMarked;
