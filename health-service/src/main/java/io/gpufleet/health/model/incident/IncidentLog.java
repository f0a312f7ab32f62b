package io.gpufleet.health.model.incident;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
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
    private final ArrayDeque<RecordedDecision> others = new ArrayDeque<>();

    /** Forgets everything. */
    public void clear() {
        incidents.clear();
        byNode.clear();
        others.clear();
    }

    /** Adds a decision to the incident that it belongs to, or opens one. */
    public void add(RecordedDecision decision) {
        Optional<Incident> known = openOf(decision.node())
                .filter(incident -> incident.includes(decision))
                .min(Comparator.comparing(incident -> !incident.lasting().contains(decision.device())));
        if (known.isPresent()) {
            incidents.put(known.get().id(), known.get().with(decision));
        } else if (decision.adverse()) {
            Incident opened = Incident.opened(decision);
            incidents.put(opened.id(), opened);
            byNode.computeIfAbsent(opened.node(), _ -> new LinkedHashSet<>()).add(opened.id());
        } else {
            others.addLast(decision);
        }
        expire(decision.at());
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
        SequencedSet<String> ofNode = Objects.requireNonNull(byNode.get(incident.node()));
        ofNode.remove(incident.id());
        if (ofNode.isEmpty()) {
            byNode.remove(incident.node());
        }
    }

    private Stream<Incident> openOf(String node) {
        return ofNode(node).filter(Incident::open);
    }

    /** Incidents of a node, oldest first. */
    public Stream<Incident> ofNode(String node) {
        Collection<String> ids = byNode.containsKey(node) ? Objects.requireNonNull(byNode.get(node)) : List.of();
        return ids.stream().map(id -> Objects.requireNonNull(incidents.get(id)));
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
