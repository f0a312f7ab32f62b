package io.gpufleet.health.model.incident;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.stream.Stream;

/**
 * Incidents of the fleet, made of its decisions in the order of each node. Keeps {@link #RETENTION}, and of that the newest
 * {@link #MAX_INCIDENTS}. Not thread-safe.
 */
public final class IncidentLog {
    /** How long an incident is kept after its newest decision. */
    public static final Duration RETENTION = Duration.ofDays(30);

    /** Incidents that are kept at once. */
    public static final int MAX_INCIDENTS = 10_000;

    /** Decisions kept that belong to no incident. */
    private static final int MAX_OTHERS = 10_000;

    /** By id, oldest first. */
    private final SequencedMap<String, Incident> incidents = new LinkedHashMap<>();

    private final Map<String, SequencedSet<String>> byNode = new HashMap<>();
    /** Those of each node that are open, few: a node that fails over and over has thousands that are not. */
    private final Map<String, SequencedSet<String>> openByNode = new HashMap<>();

    private final ArrayDeque<RecordedDecision> others = new ArrayDeque<>();

    /** Forgets everything. */
    public void clear() {
        incidents.clear();
        byNode.clear();
        openByNode.clear();
        others.clear();
    }

    /** Adds a decision to the incident that it belongs to, or opens one. */
    public void add(RecordedDecision decision) {
        Optional<Incident> known = openOf(decision.node())
                .filter(incident -> incident.includes(decision))
                .min(Comparator.comparing(incident -> !incident.lasting().contains(decision.device())));
        if (known.isPresent()) {
            put(known.get().with(decision));
        } else if (decision.adverse()) {
            Incident opened = Incident.opened(decision);
            byNode.computeIfAbsent(opened.node(), _ -> new LinkedHashSet<>()).add(opened.id());
            put(opened);
        } else {
            others.addLast(decision);
        }
        expire(decision.at());
    }

    private void put(Incident incident) {
        incidents.put(incident.id(), incident);
        if (incident.open()) {
            openByNode
                    .computeIfAbsent(incident.node(), _ -> new LinkedHashSet<>())
                    .add(incident.id());
        } else {
            remove(openByNode, incident);
        }
    }

    private static void remove(Map<String, SequencedSet<String>> index, Incident incident) {
        SequencedSet<String> ofNode = index.get(incident.node());
        if (ofNode != null && ofNode.remove(incident.id()) && ofNode.isEmpty()) {
            index.remove(incident.node());
        }
    }

    private void expire(Instant now) {
        Instant kept = now.minus(RETENTION);
        while (!incidents.isEmpty()
                && (incidents.size() > MAX_INCIDENTS
                        || incidents.firstEntry().getValue().until().isBefore(kept))) {
            remove(incidents.firstEntry().getValue());
        }
        while (!others.isEmpty()
                && (others.size() > MAX_OTHERS || others.getFirst().at().isBefore(kept))) {
            others.removeFirst();
        }
    }

    private void remove(Incident incident) {
        incidents.remove(incident.id());
        remove(byNode, incident);
        remove(openByNode, incident);
    }

    private Stream<Incident> openOf(String node) {
        return of(openByNode, node);
    }

    /** Incidents of a node, oldest first. */
    public Stream<Incident> ofNode(String node) {
        return of(byNode, node);
    }

    private Stream<Incident> of(Map<String, SequencedSet<String>> index, String node) {
        return Optional.ofNullable(index.get(node)).stream()
                .flatMap(SequencedSet::stream)
                .map(id -> Objects.requireNonNull(incidents.get(id)));
    }

    /** All incidents, newest first. */
    public Stream<Incident> newestFirst() {
        return incidents.sequencedValues().reversed().stream();
    }

    /** Decisions about a GPU on any node, oldest first. */
    public List<RecordedDecision> timeline(String device) {
        Stream<RecordedDecision> within = incidents.values().stream()
                .filter(incident -> incident.devices().contains(device))
                .flatMap(incident -> incident.decisions().stream());
        return Stream.concat(within, others.stream())
                .filter(decision -> decision.device().equals(device))
                .sorted(Comparator.comparing(RecordedDecision::at))
                .toList();
    }
}
