package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.leadership.LeadershipLease;
import io.gpufleet.runtime.projection.EventTimings;
import io.gpufleet.runtime.receiver.FailedKeys;
import io.gpufleet.runtime.record.LostTopics;
import io.gpufleet.runtime.sequence.MissedEvents;
import io.gpufleet.runtime.sequence.StaleWriters;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/** Objects that outlive a term within one process. */
final class EngineContext {
    /** Names this process among all that ever led. */
    private final String run = UUID.randomUUID().toString();

    private final MutableCounters counting = new MutableCounters();
    private final StaleWriters staleWriters = new StaleWriters();
    private final MissedEvents missedEvents = new MissedEvents();
    private final LeadershipLease lease;
    private final BrokerClock brokerClock;
    private final BrokerProbe probe;
    private final FailedKeys failedKeys;
    private final LostTopics lostTopics;
    private volatile String kafkaCluster = "";
    private volatile Map<String, String> topicIds = Map.of();
    private volatile EventTimings timings = (_, _, _) -> {};
    private volatile boolean acting;
    private volatile List<String> tickFailures = List.of();
    /** Of the engine's thread. */
    private long waitUntilNanos;

    EngineContext(EngineParts<?> parts, BrokerProbe probe) {
        this(parts, probe, new LeadershipLease(parts.settings().leaseDuration(), parts.clients()::nanos));
    }

    /** With a lease that is counted otherwise, as simulations do. */
    EngineContext(EngineParts<?> parts, BrokerProbe probe, LeadershipLease lease) {
        this.lease = lease;
        this.waitUntilNanos = parts.clients().nanos();
        this.brokerClock = parts.config().brokerClock();
        this.probe = probe;
        this.failedKeys = parts.failedKeys();
        this.lostTopics = new LostTopics(
                parts.codec().topics().name(parts.spec().changelog()),
                parts.spec().outputs().stream()
                        .map(parts.codec().topics()::name)
                        .collect(Collectors.toSet()));
    }

    String run() {
        return run;
    }

    MutableCounters counting() {
        return counting;
    }

    StaleWriters staleWriters() {
        return staleWriters;
    }

    MissedEvents missedEvents() {
        return missedEvents;
    }

    LeadershipLease lease() {
        return lease;
    }

    BrokerClock brokerClock() {
        return brokerClock;
    }

    BrokerProbe probe() {
        return probe;
    }

    FailedKeys failedKeys() {
        return failedKeys;
    }

    LostTopics lostTopics() {
        return lostTopics;
    }

    EventTimings timings() {
        return timings;
    }

    void timings(EventTimings receiver) {
        timings = receiver;
    }

    /**
     * Takes note of the Kafka that answers now. The id of the one before, when it is another one: it was made anew, or the
     * address leads elsewhere.
     */
    Optional<String> joined(String kafkaClusterId) {
        String before = kafkaCluster;
        kafkaCluster = kafkaClusterId;
        return before.isEmpty() || before.equals(kafkaClusterId) ? Optional.empty() : Optional.of(before);
    }

    Map<String, String> topicIds() {
        return topicIds;
    }

    void topicIds(Map<String, String> found) {
        topicIds = found;
    }

    /** Monotonic time up to which a leader of another process may act, as far as this one has found out. */
    long waitUntil() {
        return waitUntilNanos;
    }

    void waitUntil(long nanos) {
        waitUntilNanos = nanos;
    }

    /** The actor was begun. */
    void acts() {
        acting = true;
    }

    void actsNoMore() {
        acting = false;
        tickFailures = List.of();
    }

    boolean acting() {
        return acting;
    }

    void tickFailures(List<String> lines) {
        tickFailures = lines;
    }

    List<String> tickFailures() {
        return tickFailures;
    }
}
