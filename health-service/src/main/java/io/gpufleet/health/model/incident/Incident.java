package io.gpufleet.health.model.incident;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal.Holder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Consequences of one fault on a node, from the first decision to the return of everything that it took out of service.
 *
 * @param decisions the first one and the newest, at most {@link #MAX_DECISIONS}
 * @param leftOut how many decisions between them are not kept
 * @param lasting what is out of service or held back: GPU UUIDs, and the empty text for the node
 * @param devices GPUs that a decision was about
 * @param holders pods that held a GPU at the fault, at most {@link #MAX_HOLDERS}
 * @param downtime how long they were out
 */
public record Incident(
        List<RecordedDecision> decisions,
        int leftOut,
        Set<String> lasting,
        Set<String> devices,
        Set<Holder> holders,
        Downtime downtime) {
    /** Decisions that one incident keeps. */
    public static final int MAX_DECISIONS = 32;

    /** Pods that one incident names. */
    public static final int MAX_HOLDERS = 64;

    /** A decision that follows another on its node within this time belongs to the same incident. */
    private static final Duration COALESCE = Duration.ofMinutes(1);

    /** Copies the collections; sets keep their order. */
    public Incident {
        decisions = List.copyOf(decisions);
        lasting = new TreeSet<>(lasting);
        devices = new TreeSet<>(devices);
        holders = new LinkedHashSet<>(holders);
    }

    /** The incident that a decision opens. */
    static Incident opened(RecordedDecision first) {
        return new Incident(List.of(), 0, Set.of(), Set.of(), Set.of(), Downtime.NONE).with(first);
    }

    /** The incident after a further decision. */
    Incident with(RecordedDecision next) {
        var kept = new ArrayList<>(decisions);
        kept.add(next);
        boolean tooMany = kept.size() > MAX_DECISIONS;
        if (tooMany) {
            kept.remove(1);
        }
        var still = new TreeSet<>(lasting);
        if (next.lasting()) {
            still.add(next.device());
        } else {
            still.remove(next.device());
        }
        var hit = new TreeSet<>(devices);
        if (!next.device().isEmpty()) {
            hit.add(next.device());
        }
        var named = new LinkedHashSet<>(holders);
        next.decision().holders().stream().limit(MAX_HOLDERS - named.size()).forEach(named::add);
        return new Incident(kept, tooMany ? leftOut + 1 : leftOut, still, hit, named, downtime.after(next));
    }

    /** Whether a decision on the same node belongs to it: same GPU, same event, or soon after. */
    boolean includes(RecordedDecision next) {
        return lasting.contains(next.device())
                || decisions.stream().anyMatch(known -> sharesEvidence(known.decision(), next.decision()))
                || !next.at().isAfter(last().at().plus(COALESCE));
    }

    private static boolean sharesEvidence(Decision one, Decision other) {
        return one.evidence().stream().anyMatch(other.evidence()::contains);
    }

    /** Id of its first decision. */
    public String id() {
        return first().id();
    }

    /** Name of the node. */
    public String node() {
        return first().node();
    }

    /** The decision that opened it; its evidence begins with the first fact. */
    public RecordedDecision first() {
        return decisions.getFirst();
    }

    /** The newest decision. */
    public RecordedDecision last() {
        return decisions.getLast();
    }

    /** True while something is out of service or held back. */
    public boolean open() {
        return !lasting.isEmpty();
    }

    /** The budget that was checked last; empty when none was. */
    public String budget() {
        return decisions.reversed().stream()
                .map(each -> each.decision().outcome().budget())
                .filter(budget -> !budget.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** Distinct actions that were carried out, in order. */
    public List<String> effects() {
        return decisions.stream()
                .map(RecordedDecision::decision)
                .filter(decision -> decision.outcome().status() == Decision.Status.ACTED)
                .map(Decision::action)
                .distinct()
                .toList();
    }

    /** Where the pods are that it hit. */
    public Stream<String> namespaces() {
        return holders.stream().map(Holder::namespace).distinct().sorted();
    }

    /** When the last of what it took out of service returned, or the newest decision of an open one. */
    public Instant until() {
        return last().at();
    }
}
