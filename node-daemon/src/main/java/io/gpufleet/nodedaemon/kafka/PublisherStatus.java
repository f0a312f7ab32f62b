package io.gpufleet.nodedaemon.kafka;

/**
 * State of the {@link EventPublisher}.
 *
 * @param attempts number of producers created; the next one is created only once the previous one is closed
 * @param unresolvable whether no name of the bootstrap servers can be resolved
 */
public record PublisherStatus(
        boolean connected,
        long attempts,
        long outboxBytes,
        long sent,
        long lost,
        long rejected,
        boolean diskBroken,
        boolean unresolvable) {
    PublisherStatus withLost(long more) {
        return new PublisherStatus(
                connected, attempts, outboxBytes, sent, lost + more, rejected, diskBroken, unresolvable);
    }
}
