/** Publishes facts through the outbox, consumes verdicts and settings. The only package that uses Kafka. */
@NullMarked
package io.gpufleet.nodedaemon.kafka;

import org.jspecify.annotations.NullMarked;
