/** The inventory by REST, probes and metrics; every replica answers. */
@NullMarked
package io.gpufleet.inventory.http;

import org.jspecify.annotations.NullMarked;
