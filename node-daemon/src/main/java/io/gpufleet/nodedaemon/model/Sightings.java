package io.gpufleet.nodedaemon.model;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;

/**
 * When and where a fault was seen. Two sources report one thing each, so that a burst that both report counts once.
 *
 * @param since first observation, by the node's clock
 * @param count how often it was observed
 * @param message of the newest observation, one line for people
 * @param origins who reported the newest observation
 * @param newestNanos newest observation, by the monotonic clock
 * @param leader who reported it first
 * @param unpaired how many observations of the leader no other source has reported as yet
 */
public record Sightings(
        Instant since,
        long count,
        String message,
        Set<FaultOrigin> origins,
        long newestNanos,
        FaultOrigin leader,
        int unpaired) {
    /** Two sources that report one fault of one GPU within this time saw one thing. */
    public static final Duration ONE_OBSERVATION = Duration.ofSeconds(5);

    /** Copies the set. */
    public Sightings {
        origins = Set.copyOf(origins);
    }

    /** What was kept of an earlier process; the pairing of sources is not. */
    public static Sightings kept(Instant since, long count, String message, Set<FaultOrigin> origins) {
        return new Sightings(since, count, message, origins, 0, FaultOrigin.POLL, 0);
    }

    static Sightings first(Sign.FaultSeen sign, Moment now) {
        return new Sightings(now.wall(), 1, sign.message(), Set.of(sign.source()), now.nanos(), sign.source(), 1);
    }

    /** Whether another source has reported this one already. */
    boolean pairs(Sign.FaultSeen sign, Moment now) {
        return soon(now) && unpaired > 0 && sign.source() != leader;
    }

    Sightings paired(FaultOrigin origin) {
        var both = EnumSet.of(origin);
        both.addAll(origins);
        return new Sightings(since, count, message, both, newestNanos, leader, unpaired - 1);
    }

    Sightings told(String better) {
        return new Sightings(since, count, better, origins, newestNanos, leader, unpaired);
    }

    Sightings again(Sign.FaultSeen sign, Moment now) {
        int ahead = soon(now) && sign.source() == leader ? unpaired + 1 : 1;
        return new Sightings(
                since, count + 1, sign.message(), Set.of(sign.source()), now.nanos(), sign.source(), ahead);
    }

    Sightings inherited(Moment now) {
        return new Sightings(since, count, message, origins, now.nanos(), leader, 0);
    }

    private boolean soon(Moment now) {
        return now.since(newestNanos).compareTo(ONE_OBSERVATION) <= 0;
    }
}
