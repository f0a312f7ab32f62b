/** The inventory over REST, probes and metrics, on every replica. */
@NullMarked
package io.gpufleet.inventory.http;

import org.jspecify.annotations.NullMarked;
