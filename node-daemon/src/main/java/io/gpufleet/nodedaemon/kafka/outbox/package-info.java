/**
 * The on-disk log of events that Kafka has not acknowledged: segments, acknowledged position, recovery. Independent of
 * the Kafka client. File formats: {@link io.gpufleet.nodedaemon.kafka.outbox.LogSegment},
 * {@link io.gpufleet.nodedaemon.kafka.outbox.OutboxEntry},
 * {@link io.gpufleet.nodedaemon.kafka.outbox.AckedPositionFile}.
 */
@NullMarked
package io.gpufleet.nodedaemon.kafka.outbox;

import org.jspecify.annotations.NullMarked;
