package io.gpufleet.inventory.model;

import java.util.ArrayList;
import java.util.List;

/**
 * What is asked of an image; an empty text asks for all.
 *
 * @param model product name or short name of a GPU, in any case
 * @param node node name
 * @param health health of a device as {@link NodeImage#healthOf} tells it
 */
public record FleetQuery(String model, String node, String health) {
    /** Everything. */
    public static final FleetQuery ALL = new FleetQuery("", "", "");

    /**
     * Some of what was asked for, in a stable order.
     *
     * @param next where the next page goes on; empty on the last
     */
    public record Page<T>(List<T> items, String next) {
        /** Copies the list. */
        public Page {
            items = List.copyOf(items);
        }
    }

    /** Announced nodes by name, those that have a matching GPU; {@code after} is the name that the last page ended with. */
    public Page<NodeImage> nodes(Fleet fleet, String after, int size) {
        var found = new ArrayList<NodeImage>();
        fleet.nodes().after(after, (_, node) -> {
            if (node.announcement() != null && accepts(node)) {
                found.add(node);
            }
            return found.size() <= size;
        });
        return page(found, size, found.size() > size ? found.get(size - 1).name() : "");
    }

    /** GPUs by node and index; {@code after} is {@code <node>/<index>} of the last one. */
    public Page<Fleet.Place> devices(Fleet fleet, String after, int size) {
        var found = new ArrayList<Fleet.Place>();
        int slash = after.lastIndexOf('/');
        String from = slash < 0 ? "" : after.substring(0, slash);
        int index = slash < 0 ? -1 : Integer.parseInt(after.substring(slash + 1));
        fleet.node(from).ifPresent(node -> collect(node, index, size, found));
        fleet.nodes().after(from, (_, node) -> collect(node, -1, size, found));
        return page(found, size, found.size() > size ? place(found.get(size - 1)) : "");
    }

    private boolean collect(NodeImage node, int after, int size, List<Fleet.Place> found) {
        if (this.node.isEmpty() || this.node.equals(node.name())) {
            for (Gpu gpu : node.gpus()) {
                if (gpu.index() > after && accepts(node, gpu) && found.size() <= size) {
                    found.add(new Fleet.Place(node, gpu));
                }
            }
        }
        return found.size() <= size;
    }

    private boolean accepts(NodeImage candidate) {
        boolean named = node.isEmpty() || node.equals(candidate.name());
        boolean anyDevice = model.isEmpty() && health.isEmpty();
        return named && (anyDevice || candidate.gpus().stream().anyMatch(gpu -> accepts(candidate, gpu)));
    }

    private boolean accepts(NodeImage owner, Gpu gpu) {
        return (model.isEmpty()
                        || model.equalsIgnoreCase(gpu.model())
                        || model.equalsIgnoreCase(gpu.shortModel())
                        || model.equalsIgnoreCase(LabelValue.sanitised(gpu.model())))
                && (health.isEmpty() || health.equalsIgnoreCase(owner.healthOf(gpu)));
    }

    private static String place(Fleet.Place place) {
        return place.node().name() + "/" + place.gpu().index();
    }

    private static <T> Page<T> page(List<T> found, int size, String next) {
        return new Page<>(found.size() > size ? found.subList(0, size) : found, next);
    }
}
