package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The fleet at one moment; immutable, so that any thread may read it. {@link #apply} gives the next image and {@link
 * #load} sets a node as a changelog kept it; both lead to equal images.
 *
 * @param nodes every node heard of, by name
 * @param whereabouts names of the nodes that list a device, sorted, by UUID of the GPU or MIG instance; one, unless a
 *     board was moved and its old node was not heard since
 */
public record Fleet(NameTree<NodeImage> nodes, NameTree<List<String>> whereabouts) {
    /** Nothing was heard yet. */
    public static final Fleet EMPTY = new Fleet(NameTree.empty(), NameTree.empty());

    /** A GPU and the node that has it. */
    public record Place(NodeImage node, Gpu gpu) {}

    /** A node, where anything was heard of it. */
    public Optional<NodeImage> node(String name) {
        return nodes.get(name);
    }

    /** A node as it is, or with nothing but its name. */
    public NodeImage nodeOrUnknown(String name) {
        return nodes.get(name).orElseGet(() -> NodeImage.unknown(name));
    }

    /** The GPU of that UUID, or the one that has the MIG instance of that UUID; of two claims the newer one counts. */
    public Optional<Place> device(String uuid) {
        return whereabouts.get(uuid).stream()
                .flatMap(List::stream)
                .flatMap(name -> node(name).stream())
                .max(Comparator.comparing((NodeImage node) ->
                                node.announced().map(Announcement::appendedAt).orElse(Instant.MIN))
                        .thenComparing(NodeImage::name))
                .flatMap(node -> node.gpus().stream()
                        .filter(gpu -> idsOf(gpu).anyMatch(uuid::equals))
                        .findFirst()
                        .map(gpu -> new Place(node, gpu)));
    }

    /** The next image; the same one where the change says nothing new. */
    public Fleet apply(FleetDelta delta) {
        NodeImage before = nodeOrUnknown(delta.node());
        NodeImage after = changed(before, delta);
        return after.differsFrom(before) ? load(after.atRevision(before.revision() + 1)) : this;
    }

    /** The image with a node exactly as given; one that says nothing at all is left out. */
    public Fleet load(NodeImage node) {
        if (node.empty()) {
            return forget(node.name());
        }
        NodeImage before = nodeOrUnknown(node.name());
        NameTree<List<String>> places =
                before.gpus().equals(node.gpus()) ? whereabouts : listed(unlisted(whereabouts, before), node);
        return new Fleet(nodes.with(node.name(), node), places);
    }

    /** The image without a node. */
    public Fleet forget(String name) {
        return node(name)
                .map(gone -> new Fleet(nodes.without(name), unlisted(whereabouts, gone)))
                .orElse(this);
    }

    private static NodeImage changed(NodeImage node, FleetDelta delta) {
        return switch (delta) {
            case FleetDelta.Announced(String _, Announcement snapshot) -> announced(node, snapshot);
            case FleetDelta.Departed departed -> departed(node, departed);
            case FleetDelta.Heard heard ->
                node.presence() == null ? node : node.with(node.presence().heard(heard.at()));
            case FleetDelta.FellSilent silent ->
                node.presence() instanceof Presence.Present present
                        ? node.with(present.fallsSilent(silent.at()))
                        : node;
            case FleetDelta.Judged judged -> node.with(judged.verdicts());
            case FleetDelta.Held held -> node.heldBy(held.holders());
            case FleetDelta.ObjectSeen seen -> node.ofObject(seen.uid(), seen.settings());
            case FleetDelta.ObjectGone gone -> node.nodeUid().equals(gone.uid()) ? withoutObject(node) : node;
            case FleetDelta.Forgotten _ -> NodeImage.unknown(node.name());
            case FleetDelta.LabelsWritten written ->
                node.conflicting(written.conflicts().stream().sorted().toList());
        };
    }

    /** A snapshot that repeats the one before changes nothing, or every 6 h each view would be new. */
    private static NodeImage announced(NodeImage node, Announcement snapshot) {
        Announcement before = node.announcement();
        Presence presence = node.presence() == null
                ? new Presence.Present(snapshot.appendedAt())
                : node.presence().announced(snapshot.appendedAt());
        boolean repeated = before != null && before.saysTheSameAs(snapshot);
        return repeated ? node.with(presence) : node.with(snapshot).with(presence);
    }

    /** The end of another boot than the announced one is old news. */
    private static NodeImage departed(NodeImage node, FleetDelta.Departed departed) {
        boolean thisBoot = node.announced()
                .filter(known -> known.bootId().equals(departed.bootId()))
                .isPresent();
        return thisBoot && node.presence() != null ? node.with(node.presence().departs(departed.at())) : node;
    }

    /** A node that is away and whose object is gone is forgotten; one that is heard stays, whatever Kubernetes says. */
    private static NodeImage withoutObject(NodeImage node) {
        return switch (node.presence()) {
            case Presence.Departed _, Presence.Lost _ -> NodeImage.unknown(node.name());
            case Presence.Present _ -> node.ofObject("", null).conflicting(List.of());
            case null -> node.ofObject("", null).conflicting(List.of());
        };
    }

    private static NameTree<List<String>> listed(NameTree<List<String>> places, NodeImage node) {
        for (Gpu gpu : node.gpus()) {
            for (String id : idsOf(gpu).toList()) {
                Stream<String> others = places.get(id).stream().flatMap(List::stream);
                places = places.with(
                        id,
                        Stream.concat(others, Stream.of(node.name()))
                                .sorted()
                                .distinct()
                                .toList());
            }
        }
        return places;
    }

    private static NameTree<List<String>> unlisted(NameTree<List<String>> places, NodeImage node) {
        for (Gpu gpu : node.gpus()) {
            for (String id : idsOf(gpu).toList()) {
                List<String> others = places.get(id).stream()
                        .flatMap(List::stream)
                        .filter(name -> !name.equals(node.name()))
                        .toList();
                places = others.isEmpty() ? places.without(id) : places.with(id, others);
            }
        }
        return places;
    }

    private static Stream<String> idsOf(Gpu gpu) {
        return Stream.concat(Stream.of(gpu.uuid()), gpu.instances().stream().map(Gpu.Instance::uuid))
                .filter(id -> !id.isEmpty());
    }
}
