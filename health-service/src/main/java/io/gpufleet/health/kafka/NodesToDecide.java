package io.gpufleet.health.kafka;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.runtime.projection.States;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Nodes to be decided about again without an event: those that have become silent, all of them after another policy, and
 * those with something held back, in turn. What a batch decided is repeated if that batch was undone.
 */
final class NodesToDecide {
    /** So many are decided about at once, four times a second. */
    private static final int MAX_DUE = 1_000;

    private final Set<String> silent = new LinkedHashSet<>();
    private final SequencedSet<String> toReview = new LinkedHashSet<>();
    /** Reviewed by the newest tick, whose batch is not known to be committed. */
    private List<String> reviewed = List.of();
    /** Nodes with something held back by a budget; who was looked at goes to the end. */
    private final SequencedSet<String> heldBack = new LinkedHashSet<>();

    /** Another term begins: a review that the one before did not finish goes on. */
    void restarted(States<?> states) {
        undone();
        toReview.removeIf(node -> states.get(node).isEmpty());
        silent.clear();
        heldBack.clear();
    }

    /** The states do not say what was decided last. */
    void undone() {
        toReview.addAll(reviewed);
        reviewed = List.of();
    }

    void review(String node) {
        toReview.add(node);
    }

    void silent(Collection<String> nodes) {
        silent.addAll(nodes);
    }

    void heard(String node) {
        silent.remove(node);
    }

    boolean isSilent(String node) {
        return silent.contains(node);
    }

    void heldBack(String node, boolean held) {
        if (held) {
            heldBack.add(node);
        } else {
            heldBack.remove(node);
        }
    }

    void forget(String node) {
        silent.remove(node);
        heldBack.remove(node);
    }

    /** The next nodes, by the states that tell what is done. */
    List<String> next(States<NodeState> states) {
        silent.removeIf(node -> states.get(node)
                .filter(state -> state.node().presence().daemon() == Presence.Daemon.HEARD)
                .isEmpty());
        List<String> due = Stream.of(silent, toReview, heldBack)
                .flatMap(Collection::stream)
                .limit(MAX_DUE)
                .toList();
        reviewed = due.stream().filter(toReview::remove).toList();
        due.stream().filter(heldBack::remove).forEach(heldBack::add);
        return due;
    }
}
