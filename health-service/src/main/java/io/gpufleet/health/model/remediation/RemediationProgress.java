package io.gpufleet.health.model.remediation;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How far the newest remediation of a node is.
 *
 * @param remediation what an executor is asked for
 * @param phase how far it is
 * @param at append time of the newest change
 * @param message one line for people
 */
public record RemediationProgress(Remediation remediation, Phase phase, Instant at, String message) {
    /** Nothing was asked for. */
    public static final RemediationProgress NONE =
            new RemediationProgress(Remediation.NONE, Phase.NONE, Instant.EPOCH, "");

    /** Phases of a remediation. */
    public enum Phase {
        /** Nothing was asked for. */
        NONE,
        /** It is decided; its object is made once this is committed. */
        REQUESTED,
        /** Its object is there. */
        CREATED,
        /** Its effect was seen. */
        SUCCEEDED,
        /** Its executor gave up. */
        FAILED,
        /** Its effect was not seen by its deadline. */
        TIMED_OUT,
        /** It is not needed any more, or held back. */
        WITHDRAWN
    }

    /** True while an executor may work on it. */
    public boolean open() {
        return phase == Phase.REQUESTED || phase == Phase.CREATED;
    }

    /** True for an attempt without effect, which leads to the next step. */
    public boolean wasInVain() {
        return phase == Phase.FAILED || phase == Phase.TIMED_OUT;
    }

    /**
     * How it ended: by its effect, since nothing is left to repair, or by its deadline; empty while it goes on. What its
     * executor says does not count here.
     *
     * @param nodeUid UID of the Node object
     * @param bootId newest boot of the node
     * @param open ids of the events that opened the open faults of the node, and UUIDs of GPUs whose fault ended, but which
     *     are out of service yet
     */
    public Optional<RemediationProgress> settled(String nodeUid, String bootId, Set<String> open, Instant now) {
        if (!open()) {
            return Optional.empty();
        }
        if (!nodeUid.equals(remediation.target().nodeUid())) {
            return Optional.of(with(Phase.WITHDRAWN, now, "the Node object was recreated"));
        }
        boolean booted = !bootId.equals(remediation.target().bootId());
        boolean repaired = needs().noneMatch(open::contains);
        if (booted) {
            return Optional.of(
                    remediation.boots()
                            ? with(Phase.SUCCEEDED, now, "boot " + bootId + " began")
                            : with(Phase.WITHDRAWN, now, "boot " + bootId + " began before its effect was seen"));
        }
        if (repaired && remediation.validates()) {
            return Optional.of(with(Phase.WITHDRAWN, now, "no GPU of it waits any more"));
        }
        if (repaired) {
            return Optional.of(
                    remediation.boots()
                            ? with(Phase.WITHDRAWN, now, "the fault ended without it")
                            : with(Phase.SUCCEEDED, now, "the fault ended"));
        }
        return now.isBefore(remediation.deadline())
                ? Optional.empty()
                : Optional.of(with(Phase.TIMED_OUT, now, "no effect by " + remediation.deadline()));
    }

    private Stream<String> needs() {
        return remediation.validates()
                ? remediation.target().devices().stream().map(Remediation.RemediatedDevice::uuid)
                : remediation.evidence().stream();
    }

    /**
     * True when it has proven that a GPU works that has been about to return since a time.
     *
     * @param bootId newest boot of the node
     */
    public boolean validated(String uuid, String bootId, Instant since) {
        return phase == Phase.SUCCEEDED
                && remediation.validates()
                && remediation.target().bootId().equals(bootId)
                && !at.isBefore(since)
                && needs().anyMatch(uuid::equals);
    }

    /**
     * After a report; empty for one that changes nothing. Only a request begins another remediation, and one that ended
     * stays ended.
     */
    public Optional<RemediationProgress> after(Remediation reported, Phase next, Instant now, String text) {
        var after = new RemediationProgress(reported, next, now, text);
        boolean same = reported.equals(remediation);
        return switch (next) {
            case REQUESTED -> {
                boolean begins = !open() && !reported.name().equals(remediation.name());
                boolean says = same && phase == Phase.REQUESTED && !text.equals(message);
                yield begins || says ? Optional.of(after) : Optional.empty();
            }
            case CREATED ->
                same && open() && !(phase == next && text.equals(message)) ? Optional.of(after) : Optional.empty();
            case FAILED, WITHDRAWN -> same && open() ? Optional.of(after) : Optional.empty();
            case SUCCEEDED -> same && open() && remediation.validates() ? Optional.of(after) : Optional.empty();
            case NONE, TIMED_OUT -> Optional.empty();
        };
    }

    private RemediationProgress with(Phase next, Instant now, String text) {
        return new RemediationProgress(remediation, next, now, text);
    }
}
