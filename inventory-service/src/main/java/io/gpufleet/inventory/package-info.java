/** The composition root of the inventory-service. */
@NullMarked
package io.gpufleet.inventory;

import org.jspecify.annotations.NullMarked;
