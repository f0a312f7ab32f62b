package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.label.LabelValue;
import java.util.ArrayList;
import java.util.List;

/**
 * Filter over the nodes and devices of a fleet; an empty text matches all.
 *
 * @param model product name or short name of a GPU, case-insensitive
 * @param node node name
 * @param health health of a device as in {@link NodeState#healthOf}
 */
public record FleetQuery(String model, String node, String health) {
    /** Matches everything. */
    public static final FleetQuery ALL = new FleetQuery("", "", "");

    /**
     * One page of the matches, in a stable order.
     *
     * @param next position at which the next page continues; empty on the last
     */
    public record Page<T>(List<T> items, String next) {
        /** Size of a page, where the client sets none. */
        public static final int DEFAULT_SIZE = 100;
        /** Largest size of a page. */
        public static final int MAX_SIZE = 1000;

        /** Copies the list. */
        public Page {
            items = List.copyOf(items);
        }
    }

    /** Announced nodes with a matching GPU, by name; {@code after} is the last name of the previous page. */
    public Page<NodeState> nodes(Fleet fleet, String after, int size) {
        var matches = new ArrayList<NodeState>();
        fleet.nodes().forEachAfter(after, (_, node) -> {
            if (node.announcement() != null && accepts(node)) {
                matches.add(node);
            }
            return matches.size() <= size;
        });
        return page(matches, size, matches.size() > size ? matches.get(size - 1).name() : "");
    }

    /** GPUs by node and index; {@code after} is {@code <node>/<index>} of the last one of the previous page. */
    public Page<Fleet.GpuLocation> devices(Fleet fleet, String after, int size) {
        var matches = new ArrayList<Fleet.GpuLocation>();
        int slash = after.lastIndexOf('/');
        String from = slash < 0 ? "" : after.substring(0, slash);
        int index = slash < 0 ? -1 : Integer.parseInt(after.substring(slash + 1));
        fleet.node(from).ifPresent(node -> collect(node, index, size, matches));
        fleet.nodes().forEachAfter(from, (_, node) -> collect(node, -1, size, matches));
        return page(matches, size, matches.size() > size ? position(matches.get(size - 1)) : "");
    }

    private boolean collect(NodeState node, int after, int size, List<Fleet.GpuLocation> matches) {
        if (this.node.isEmpty() || this.node.equals(node.name())) {
            for (Gpu gpu : node.gpus()) {
                if (gpu.index() > after && accepts(node, gpu) && matches.size() <= size) {
                    matches.add(new Fleet.GpuLocation(node, gpu));
                }
            }
        }
        return matches.size() <= size;
    }

    private boolean accepts(NodeState candidate) {
        boolean named = node.isEmpty() || node.equals(candidate.name());
        boolean anyDevice = model.isEmpty() && health.isEmpty();
        return named && (anyDevice || candidate.gpus().stream().anyMatch(gpu -> accepts(candidate, gpu)));
    }

    private boolean accepts(NodeState owner, Gpu gpu) {
        return (model.isEmpty()
                        || model.equalsIgnoreCase(gpu.model())
                        || model.equalsIgnoreCase(gpu.product().shortModel())
                        || model.equalsIgnoreCase(LabelValue.sanitised(gpu.model())))
                && (health.isEmpty() || health.equalsIgnoreCase(owner.healthOf(gpu)));
    }

    private static String position(Fleet.GpuLocation location) {
        return location.node().name() + "/" + location.gpu().index();
    }

    private static <T> Page<T> page(List<T> matches, int size, String next) {
        return new Page<>(matches.size() > size ? matches.subList(0, size) : matches, next);
    }
}
