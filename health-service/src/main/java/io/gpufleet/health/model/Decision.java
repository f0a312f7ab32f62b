package io.gpufleet.health.model;

import java.util.List;

/**
 * One decision as it is recorded, also one that was held back.
 *
 * @param device GPU UUID; empty when it is about the node
 * @param evidence ids of the events it rests on
 * @param rule policy and rule, for example {@code nvidia/xid-79}
 * @param from state before
 * @param to state after
 * @param action what is done about it, one line for people
 * @param outcome what became of it
 * @param reason why, one line for people
 * @param holders pods that held the device at the fault
 * @param revision of the verdict that carries it; 0 where no verdict changed
 */
public record Decision(
        String device,
        List<String> evidence,
        String rule,
        HealthState from,
        HealthState to,
        String action,
        Outcome outcome,
        String reason,
        List<HealthSignal.Holder> holders,
        long revision) {
    /** Copies the lists. */
    public Decision {
        evidence = List.copyOf(evidence);
        holders = List.copyOf(holders);
    }

    /** What became of a decision. */
    public enum Outcome {
        /** It is carried out. */
        ACTED,
        /** It is only recorded. */
        RECORDED,
        /** Held back: too old, or of another boot. */
        STALE,
        /** Held back by an operator's hand. */
        OVERRIDDEN
    }

    Decision carriedBy(long verdictRevision) {
        return new Decision(device, evidence, rule, from, to, action, outcome, reason, holders, verdictRevision);
    }
}
