package io.gpufleet.allocation.model.quota;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/** Quotas, labels of namespaces, and the quotas that cover each namespace. */
final class NamespaceCoverage {
    private final NavigableMap<String, GpuQuota> quotas = new TreeMap<>();
    private final Map<String, Map<String, String>> namespaces = new HashMap<>();
    /** Names of quotas in name order, by namespace that was observed, named by a quota or asked for. */
    private final Map<String, List<String>> covering = new HashMap<>();

    NavigableMap<String, GpuQuota> quotas() {
        return Collections.unmodifiableNavigableMap(quotas);
    }

    Collection<String> namespaces() {
        return Collections.unmodifiableSet(namespaces.keySet());
    }

    String label(String namespace, String key) {
        return namespaces.getOrDefault(namespace, Map.of()).getOrDefault(key, "");
    }

    /** Quotas that cover a namespace, in name order. */
    List<GpuQuota> covering(String namespace) {
        List<GpuQuota> found = new ArrayList<>();
        for (String name : covering.computeIfAbsent(namespace, this::find)) {
            GpuQuota quota = quotas.get(name);
            if (quota != null) {
                found.add(quota);
            }
        }
        return found;
    }

    /** Replaces a quota; returns the namespaces whose pods count on it differently now. */
    Set<String> quotaObserved(GpuQuota quota) {
        GpuQuota before = quotas.put(quota.name(), quota);
        if (before != null && before.countsLike(quota)) {
            return Set.of();
        }
        quota.namespaces().forEach(namespace -> covering.putIfAbsent(namespace, List.of()));
        return recover(quota.name());
    }

    /** Removes a quota; returns the namespaces that it covered. */
    Set<String> quotaDeleted(String name) {
        return quotas.remove(name) == null ? Set.of() : recover(name);
    }

    private Set<String> recover(String quota) {
        GpuQuota now = quotas.get(quota);
        Set<String> affected = new HashSet<>();
        covering.replaceAll((namespace, names) -> {
            boolean covers = now != null && now.covers(namespace, namespaces.getOrDefault(namespace, Map.of()));
            if (!covers && !names.contains(quota)) {
                return names;
            }
            affected.add(namespace);
            List<String> next = new ArrayList<>(names);
            next.remove(quota);
            if (covers) {
                next.add(quota);
                Collections.sort(next);
            }
            return List.copyOf(next);
        });
        return affected;
    }

    /** Replaces the labels of a namespace; true when other quotas cover it now. */
    boolean namespaceObserved(String name, Map<String, String> labels) {
        return !labels.equals(namespaces.put(name, Map.copyOf(labels))) && recompute(name);
    }

    /** Removes a namespace; true when other quotas cover it now. */
    boolean namespaceDeleted(String name) {
        return namespaces.remove(name) != null && recompute(name);
    }

    private boolean recompute(String namespace) {
        List<String> next = find(namespace);
        return !next.equals(covering.put(namespace, next));
    }

    private List<String> find(String namespace) {
        Map<String, String> labels = namespaces.getOrDefault(namespace, Map.of());
        return quotas.values().stream()
                .filter(quota -> quota.covers(namespace, labels))
                .map(GpuQuota::name)
                .toList();
    }
}
