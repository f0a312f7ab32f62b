package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetChanges;
import io.gpufleet.inventory.model.query.FleetSummary;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Maps the model to the JSON of {@code openapi.yaml}; unknown fields are absent. */
final class InventoryJson {
    /** Changed nodes of one event of a stream: some 100 KB. */
    static final int MAX_CHANGES = 1000;

    /** Fields of a node. */
    static final Set<String> NODE_FIELDS = Set.of(
            "name",
            "uid",
            "revision",
            "presence",
            "presenceSince",
            "verdict",
            "announcedAt",
            "bootId",
            "daemonVersion",
            "deviceSource",
            "driverState",
            "driverVersion",
            "cudaVersion",
            "kernelVersion",
            "machine",
            "installerState",
            "mpsStates",
            "gpusKnownSince",
            "migStrategy",
            "labels",
            "labelConflicts",
            "resources",
            "devices",
            "holders");
    /** Fields of a GPU. */
    static final Set<String> DEVICE_FIELDS = Set.of(
            "uuid",
            "node",
            "index",
            "minor",
            "model",
            "shortModel",
            "health",
            "localHealth",
            "verdict",
            "serial",
            "pciBusId",
            "family",
            "computeCapability",
            "memoryBytes",
            "vbiosVersion",
            "numaNode",
            "fabricClique",
            "resource",
            "mode",
            "vgpuHost",
            "migMode",
            "migInstances",
            "sharing",
            "replicas",
            "nvlinkPeers",
            "holders");

    private final Function<NodeState, Map<String, String>> labels;

    /** {@code labels} computes the labels of a node. */
    InventoryJson(Function<NodeState, Map<String, String>> labels) {
        this.labels = labels;
    }

    /** A node, with the holders that the predicate shows. */
    JsonObject node(NodeState node, Predicate<Holder> shown) {
        var json = new JsonObject()
                .put("name", node.name())
                .put("revision", node.revision())
                .put("verdict", node.verdicts().node())
                .put("labels", sorted(labels.apply(node)))
                .put("labelConflicts", new JsonArray(node.object().labelConflicts()))
                .put("devices", array(node.gpus().stream().map(gpu -> device(new Fleet.GpuLocation(node, gpu), shown))))
                .put("holders", array(node.holders().stream().map(holder -> holder(holder, shown))));
        putUnlessEmpty(json, "uid", node.object().uid());
        if (node.presence() != null) {
            json.put("presence", node.presence().stateName())
                    .put("presenceSince", node.presence().since().toString());
        }
        node.lastAnnouncement().ifPresent(announcement -> putAnnouncement(json, announcement));
        return json;
    }

    private static void putAnnouncement(JsonObject json, Announcement announcement) {
        json.put("announcedAt", announcement.appendedAt().toString())
                .put("driverState", enumValue(announcement.driver().state()))
                .put("migStrategy", enumValue(announcement.migStrategy()))
                .put(
                        "resources",
                        array(announcement.resources().stream()
                                .map(it -> new JsonObject()
                                        .put("name", it.name())
                                        .put("capacity", it.capacity())
                                        .put("allocatable", it.allocatable()))));
        putUnlessEmpty(json, "bootId", announcement.bootId());
        putUnlessEmpty(json, "daemonVersion", announcement.daemon().version());
        putUnlessEmpty(json, "deviceSource", announcement.daemon().deviceSource());
        putUnlessEmpty(json, "driverVersion", announcement.driver().version());
        putUnlessEmpty(json, "cudaVersion", announcement.driver().cudaVersion());
        putUnlessEmpty(json, "kernelVersion", announcement.system().kernelVersion());
        putUnlessEmpty(json, "machine", announcement.system().machine());
        putUnlessEmpty(json, "installerState", announcement.companions().installerState());
        if (!announcement.companions().mpsStates().isEmpty()) {
            json.put("mpsStates", sorted(announcement.companions().mpsStates()));
        }
        Instant knownSince = announcement.daemon().gpusKnownSince();
        if (knownSince != null) {
            json.put("gpusKnownSince", knownSince.toString());
        }
    }

    /** A GPU, with the holders that the predicate shows. */
    JsonObject device(Fleet.GpuLocation location, Predicate<Holder> shown) {
        Gpu gpu = location.gpu();
        NodeState node = location.node();
        var json = new JsonObject()
                .put("uuid", gpu.uuid())
                .put("node", node.name())
                .put("index", gpu.index())
                .put("minor", gpu.id().minor())
                .put("model", gpu.model())
                .put("health", node.healthOf(gpu))
                .put("localHealth", enumValue(gpu.localHealth()))
                .put("memoryBytes", gpu.memoryBytes())
                .put("migMode", enumValue(gpu.mig().mode()))
                .put("migInstances", array(gpu.migInstances().stream().map(InventoryJson::instance)))
                .put("sharing", enumValue(gpu.sharing().strategy()))
                .put("replicas", gpu.sharing().replicas())
                .put("nvlinkPeers", array(gpu.topology().nvlinkPeers().stream().map(InventoryJson::peer)))
                .put(
                        "holders",
                        array(node.holders().stream()
                                .filter(holder -> holder.holds(gpu))
                                .map(holder -> holder(holder, shown))));
        putUnlessEmpty(json, "verdict", node.verdicts().devices().getOrDefault(gpu.uuid(), ""));
        putUnlessEmpty(json, "shortModel", gpu.product().shortModel());
        putUnlessEmpty(json, "serial", gpu.id().serial());
        putUnlessEmpty(json, "pciBusId", gpu.id().pciBusId());
        putUnlessEmpty(json, "family", gpu.product().family());
        putUnlessEmpty(json, "computeCapability", gpu.product().computeCapability());
        putUnlessEmpty(json, "vbiosVersion", gpu.id().vbiosVersion());
        putUnlessEmpty(json, "fabricClique", gpu.topology().fabricClique());
        putUnlessEmpty(json, "resource", gpu.resource());
        putUnlessEmpty(json, "mode", gpu.product().mode());
        if (!gpu.vgpuHost().equals(Gpu.VgpuHost.NONE)) {
            json.put(
                    "vgpuHost",
                    new JsonObject()
                            .put("driverVersion", gpu.vgpuHost().driverVersion())
                            .put("driverBranch", gpu.vgpuHost().driverBranch()));
        }
        if (gpu.topology().numaNode() != null) {
            json.put("numaNode", gpu.topology().numaNode());
        }
        return json;
    }

    private static JsonObject instance(Gpu.MigInstance instance) {
        Gpu.MigAttributes attributes = instance.attributes();
        var json = new JsonObject()
                .put("uuid", instance.uuid())
                .put("profile", instance.profile())
                .put("gpuInstanceId", instance.gpuInstanceId())
                .put("computeInstanceId", instance.computeInstanceId())
                .put("memoryBytes", attributes.memoryBytes())
                .put("multiprocessors", attributes.multiprocessors());
        putUnlessEmpty(json, "resource", instance.resource());
        if (attributes.gpuSlices() > 0) {
            Gpu.Engines engines = attributes.engines();
            json.put("gpuSlices", attributes.gpuSlices())
                    .put("computeSlices", attributes.computeSlices())
                    .put(
                            "engines",
                            new JsonObject()
                                    .put("copy", engines.copy())
                                    .put("decoder", engines.decoder())
                                    .put("encoder", engines.encoder())
                                    .put("jpeg", engines.jpeg())
                                    .put("ofa", engines.ofa()));
        }
        return json;
    }

    private static JsonObject peer(Gpu.NvlinkPeer peer) {
        var json = new JsonObject().put("links", peer.links()).put("viaSwitch", peer.viaSwitch());
        putUnlessEmpty(json, "pciBusId", peer.pciBusId());
        return json;
    }

    /** A holder in a namespace that the user may not see is only known to exist. */
    private static JsonObject holder(Holder holder, Predicate<Holder> shown) {
        var json = new JsonObject().put("deviceIds", new JsonArray(holder.deviceIds()));
        return shown.test(holder)
                ? json.put("namespace", holder.namespace())
                        .put("pod", holder.pod())
                        .put("container", holder.container())
                : json.put("masked", true);
    }

    /** Names of nodes that changed with what a list of them shows; more than fit are only said to be many. */
    static JsonObject changes(FleetChanges changes) {
        if (changes.size() > MAX_CHANGES) {
            return new JsonObject().put("many", true);
        }
        return new JsonObject()
                .put("changed", array(changes.changed().stream().map(InventoryJson::change)))
                .put("removed", new JsonArray(changes.removed()));
    }

    private static JsonObject change(NodeState node) {
        var health = new TreeMap<String, Integer>();
        node.gpus().forEach(gpu -> health.merge(node.healthOf(gpu), 1, Integer::sum));
        var json = new JsonObject()
                .put("name", node.name())
                .put("revision", node.revision())
                .put("verdict", node.verdicts().node())
                .put("devices", sorted(health));
        if (node.presence() != null) {
            json.put("presence", node.presence().stateName());
        }
        return json;
    }

    static JsonObject summary(FleetSummary summary, List<String> suspected) {
        return new JsonObject()
                .put("nodes", summary.nodes())
                .put("presence", sorted(summary.presence()))
                .put("devices", sorted(summary.devices()))
                .put("heldDevices", summary.heldDevices())
                .put("models", models(summary))
                .put("busFault", !suspected.isEmpty())
                .put("silentNodes", new JsonArray(suspected));
    }

    static JsonArray models(FleetSummary summary) {
        return array(summary.models().stream()
                .map(model -> new JsonObject()
                        .put("model", model.model())
                        .put("shortModel", model.shortModel())
                        .put("nodes", model.nodes())
                        .put("devices", model.devices())
                        .put("healthy", model.healthy())));
    }

    static JsonArray array(Stream<JsonObject> objects) {
        var array = new JsonArray();
        objects.forEach(array::add);
        return array;
    }

    /** Sorted, so that equal bodies of all replicas have one entity tag. */
    private static JsonObject sorted(Map<String, ?> map) {
        return new JsonObject(new TreeMap<>(map));
    }

    private static void putUnlessEmpty(JsonObject json, String key, String value) {
        if (!value.isEmpty()) {
            json.put(key, value);
        }
    }

    private static String enumValue(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
