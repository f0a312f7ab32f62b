/**
 * Passes committed states on to actors and listeners so that one which fails for a key harms that key alone. No Kafka
 * client enters.
 */
@NullMarked
package io.gpufleet.runtime.receiver;

import org.jspecify.annotations.NullMarked;
