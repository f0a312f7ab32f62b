/** The overlay of a laptop with its Kafka, installed as its page says, and commands of other pages that it can show. */
@NullMarked
package io.gpufleet.cli.dev;

import org.jspecify.annotations.NullMarked;
