package io.gpufleet.health.model;

import java.util.List;
import java.util.Optional;

/**
 * What follows from one signal.
 *
 * @param events changes, in order; applied to the state before they give {@code state}
 * @param effects what is to be told to others
 * @param state the state after the events
 */
public record Conclusion(List<HealthEvent> events, List<Effect> effects, NodeState state) {
    /** Copies the lists. */
    public Conclusion {
        events = List.copyOf(events);
        effects = List.copyOf(effects);
    }

    /** Something to be told. */
    public sealed interface Effect {
        /** A new verdict stands. */
        record Publish(Verdict verdict) implements Effect {}

        /** A decision is put on record. */
        record PutOnRecord(Decision decision) implements Effect {}
    }

    /** The verdict, where a new one was reached. */
    public Optional<Verdict> verdict() {
        return effects.stream()
                .flatMap(effect -> effect instanceof Effect.Publish(Verdict verdict)
                        ? Optional.of(verdict).stream()
                        : Optional.<Verdict>empty().stream())
                .findFirst();
    }

    /** The decisions, in order. */
    public List<Decision> decisions() {
        return effects.stream()
                .flatMap(effect -> effect instanceof Effect.PutOnRecord(Decision decision)
                        ? Optional.of(decision).stream()
                        : Optional.<Decision>empty().stream())
                .toList();
    }
}
