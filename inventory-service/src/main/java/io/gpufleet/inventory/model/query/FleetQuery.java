package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.ImmutableTreeMap;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.NodeIndex.Property;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Filter over the nodes and devices of a fleet; an empty text matches all.
 *
 * @param model product name, its label value or short name of a GPU, case-insensitive
 * @param node node name
 * @param health health of a device as in {@link NodeState#healthOf}
 * @param presence name of a presence
 * @param namespace namespace of a holder
 */
public record FleetQuery(String model, String node, String health, String presence, String namespace) {
    /** Matches everything. */
    public static final FleetQuery ALL = new FleetQuery("", "", "", "", "");

    /** One page of the matches, in a stable order; {@code more} where others follow. */
    public record Page<T>(List<T> items, boolean more) {
        /** Size of a page, where the client sets none. */
        public static final int DEFAULT_SIZE = 100;
        /** Largest size of a page. */
        public static final int MAX_SIZE = 1000;

        /** Copies the list. */
        public Page {
            items = List.copyOf(items);
        }

        static <T> Page<T> of(List<T> matches, int size) {
            return new Page<>(matches.size() > size ? matches.subList(0, size) : matches, matches.size() > size);
        }
    }

    /** Matches the GPUs of a model. */
    public static FleetQuery ofModel(String model) {
        return new FleetQuery(model, "", "", "", "");
    }

    /** Where a page continues after a GPU. */
    public static String position(Fleet.GpuLocation location) {
        return location.node().name() + "/" + location.gpu().uuid();
    }

    /** Announced nodes with a matching GPU, in an order, after a position of that order. */
    public Page<NodeState> nodes(IndexedFleet indexed, NodeOrder order, String after, int size) {
        return order.equals(NodeOrder.BY_NAME) ? nodes(indexed, after, size) : sorted(indexed, order, after, size);
    }

    /** Announced nodes with a matching GPU, by name, after a name. */
    public Page<NodeState> nodes(IndexedFleet indexed, String after, int size) {
        var matches = new ArrayList<NodeState>();
        forEachCandidate(indexed, after, candidate -> {
            if (accepts(candidate)) {
                matches.add(candidate);
            }
            return matches.size() <= size;
        });
        return Page.of(matches, size);
    }

    /** Reads every candidate, and keeps as many as the page has. */
    private Page<NodeState> sorted(IndexedFleet indexed, NodeOrder order, String after, int size) {
        var first = new TreeMap<String, NodeState>(order.comparator());
        forEachCandidate(indexed, "", candidate -> {
            if (accepts(candidate)) {
                String position = order.position(candidate);
                if (after.isEmpty() || order.comparator().compare(position, after) > 0) {
                    first.put(position, candidate);
                }
                if (first.size() > size + 1) {
                    first.pollLastEntry();
                }
            }
            return true;
        });
        return Page.of(List.copyOf(first.values()), size);
    }

    private boolean accepts(NodeState candidate) {
        return candidate.announcement() != null && acceptsNode(candidate) && acceptsAnyGpu(candidate);
    }

    /**
     * GPUs by node and UUID, after a {@link #position(Fleet.GpuLocation)}. One that several nodes announced is listed where
     * it was announced last.
     */
    public Page<Fleet.GpuLocation> devices(IndexedFleet indexed, String after, int size) {
        var matches = new ArrayList<Fleet.GpuLocation>();
        int slash = after.indexOf('/');
        String from = slash < 0 ? "" : after.substring(0, slash);
        indexed.fleet()
                .node(from)
                .ifPresent(first -> collect(indexed.fleet(), first, after.substring(slash + 1), size, matches));
        forEachCandidate(indexed, from, candidate -> collect(indexed.fleet(), candidate, "", size, matches));
        return Page.of(matches, size);
    }

    /** The same in another order, after a position of that order: reads every candidate, and keeps as many as the page has. */
    public Page<Fleet.GpuLocation> devices(IndexedFleet indexed, DeviceOrder order, String after, int size) {
        if (order.equals(DeviceOrder.BY_NODE)) {
            return devices(indexed, after, size);
        }
        var first = new TreeMap<String, Fleet.GpuLocation>(order.comparator());
        forEachCandidate(indexed, "", candidate -> {
            var matches = new ArrayList<Fleet.GpuLocation>();
            boolean ignored = collect(indexed.fleet(), candidate, "", size, matches);
            for (Fleet.GpuLocation match : matches) {
                String position = order.position(match);
                if (after.isEmpty() || order.comparator().compare(position, after) > 0) {
                    first.put(position, match);
                }
                if (first.size() > size + 1) {
                    first.pollLastEntry();
                }
            }
            return true;
        });
        return Page.of(List.copyOf(first.values()), size);
    }

    private boolean collect(Fleet fleet, NodeState owner, String after, int size, List<Fleet.GpuLocation> matches) {
        if (acceptsNode(owner)) {
            owner.gpus().stream()
                    .filter(gpu -> gpu.uuid().compareTo(after) > 0 && accepts(owner, gpu))
                    .filter(gpu -> fleet.isAt(gpu, owner))
                    .sorted(Comparator.comparing(Gpu::uuid))
                    .forEach(gpu -> matches.add(new Fleet.GpuLocation(owner, gpu)));
        }
        return matches.size() <= size;
    }

    /** Visits the nodes that the rarest property of the query selects, by name, while the visitor wants more. */
    private void forEachCandidate(IndexedFleet indexed, String after, Predicate<NodeState> visitor) {
        if (!node.isEmpty()) {
            indexed.fleet()
                    .node(node)
                    .filter(named -> named.name().compareTo(after) > 0)
                    .ifPresent(named -> {
                        boolean ignored = visitor.test(named);
                    });
            return;
        }
        Map<Property, String> wanted = properties();
        if (wanted.isEmpty()) {
            indexed.fleet().nodes().forEachAfter(after, (_, candidate) -> visitor.test(candidate));
            return;
        }
        ImmutableTreeMap<Boolean> rarest = wanted.entrySet().stream()
                .map(entry ->
                        indexed.index().nodes(entry.getKey(), entry.getValue()).orElse(ImmutableTreeMap.empty()))
                .min(Comparator.comparingInt(ImmutableTreeMap::size))
                .orElse(ImmutableTreeMap.empty());
        rarest.forEachAfter(after, (name, _) -> visitor.test(indexed.fleet().nodeOrUnknown(name)));
    }

    private Map<Property, String> properties() {
        var all = new EnumMap<Property, String>(Property.class);
        all.put(Property.MODEL, model);
        all.put(Property.HEALTH, health);
        all.put(Property.PRESENCE, presence);
        all.put(Property.NAMESPACE, namespace);
        all.values().removeIf(String::isEmpty);
        return all;
    }

    private boolean acceptsNode(NodeState candidate) {
        return (node.isEmpty() || node.equals(candidate.name()))
                && (presence.isEmpty()
                        || candidate
                                .livePresence()
                                .filter(it -> presence.equalsIgnoreCase(it.stateName()))
                                .isPresent())
                && (namespace.isEmpty()
                        || candidate.holders().stream()
                                .anyMatch(holder -> namespace.equalsIgnoreCase(holder.namespace())));
    }

    private boolean acceptsAnyGpu(NodeState candidate) {
        boolean anyGpu = model.isEmpty() && health.isEmpty();
        return anyGpu || candidate.gpus().stream().anyMatch(gpu -> acceptsGpu(candidate, gpu));
    }

    private boolean accepts(NodeState owner, Gpu gpu) {
        return acceptsGpu(owner, gpu)
                && (namespace.isEmpty()
                        || owner.holders().stream()
                                .anyMatch(
                                        holder -> namespace.equalsIgnoreCase(holder.namespace()) && holder.holds(gpu)));
    }

    private boolean acceptsGpu(NodeState owner, Gpu gpu) {
        return (model.isEmpty() || NodeIndex.names(gpu).stream().anyMatch(model::equalsIgnoreCase))
                && (health.isEmpty() || health.equalsIgnoreCase(owner.healthOf(gpu)));
    }
}
