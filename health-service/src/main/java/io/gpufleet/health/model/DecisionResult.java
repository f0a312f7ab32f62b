package io.gpufleet.health.model;

import java.util.List;
import java.util.Optional;

/**
 * Result of deciding on one signal.
 *
 * @param events state changes, in order; applied to the state before, they give {@code state}
 * @param effects what is to be published
 * @param state the state after the events
 */
public record DecisionResult(List<NodeStateChange> events, List<Effect> effects, NodeState state) {
    /** Copies the lists. */
    public DecisionResult {
        events = List.copyOf(events);
        effects = List.copyOf(effects);
    }

    /** Something to publish. */
    public sealed interface Effect {
        /** A new verdict. */
        record PublishVerdict(Verdict verdict) implements Effect {}

        /** A decision for the record. */
        record RecordDecision(Decision decision) implements Effect {}
    }

    /** The verdict; empty when it did not change. */
    public Optional<Verdict> verdict() {
        return effects.stream()
                .flatMap(effect -> effect instanceof Effect.PublishVerdict(Verdict verdict)
                        ? Optional.of(verdict).stream()
                        : Optional.<Verdict>empty().stream())
                .findFirst();
    }

    /** The decisions, in order. */
    public List<Decision> decisions() {
        return effects.stream()
                .flatMap(effect -> effect instanceof Effect.RecordDecision(Decision decision)
                        ? Optional.of(decision).stream()
                        : Optional.<Decision>empty().stream())
                .toList();
    }
}
