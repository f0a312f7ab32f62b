package io.gpufleet.health.model.drain;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Admits drains: so many nodes at once, and never two nodes of one job within its interval. Knows the committed progress of
 * every node, and what was admitted and is not committed yet.
 */
public final class DrainAdmission {
    /** Time after which an uncommitted admission is lost: it was for another Node object, for example. */
    private static final Duration COMMITTED_WITHIN = Duration.ofMinutes(1);

    private final Map<String, DrainProgress> known = new HashMap<>();
    private final Map<String, DrainProgress> admitted = new HashMap<>();

    /** A term begins. */
    public synchronized void clear() {
        known.clear();
        admitted.clear();
    }

    /** The progress of a node was committed. */
    public synchronized void committed(String node, DrainProgress progress) {
        if (progress.equals(DrainProgress.NONE)) {
            known.remove(node);
        } else {
            known.put(node, progress);
        }
        DrainProgress pending = admitted.get(node);
        if (pending != null && progress.active() && progress.jobs().containsAll(pending.jobs())) {
            admitted.remove(node);
        }
    }

    /** An admitted drain could not be recorded, and does not begin. */
    public synchronized void withdraw(String node) {
        admitted.remove(node);
    }

    /** Admits the drain of a node, or answers by one line why it has to wait; what is admitted counts from now. */
    public synchronized Optional<String> admit(
            String node, Collection<String> jobs, DrainSettings settings, Instant now) {
        Optional<String> refusal = refusal(node, Set.copyOf(jobs), settings, now);
        if (refusal.isEmpty()) {
            admitted.put(node, new DrainProgress(DrainProgress.Phase.ACTIVE, now, now, List.copyOf(jobs), ""));
        }
        return refusal;
    }

    private Optional<String> refusal(String node, Set<String> jobs, DrainSettings settings, Instant now) {
        admitted.values().removeIf(pending -> !now.isBefore(pending.at().plus(COMMITTED_WITHIN)));
        long active = others(node)
                .filter(other -> other.getValue().active())
                .map(Map.Entry::getKey)
                .distinct()
                .count();
        if (active >= settings.nodes()) {
            return Optional.of(
                    "waits: " + active + " nodes are being drained, at most " + settings.nodes() + " may be");
        }
        return others(node)
                .flatMap(other -> other.getValue().jobsSince(settings.times().jobInterval(), now).stream()
                        .filter(jobs::contains)
                        .map(job -> "waits: job " + job + " lost pods on node " + other.getKey()))
                .sorted()
                .findFirst();
    }

    private Stream<Map.Entry<String, DrainProgress>> others(String node) {
        return Stream.concat(known.entrySet().stream(), admitted.entrySet().stream())
                .filter(other -> !other.getKey().equals(node));
    }
}
