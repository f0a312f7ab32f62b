package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Census;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeImage;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/** The model as JSON, as {@code openapi.yaml} describes it; what is not known is left out. */
final class Answers {
    private final Function<NodeImage, Map<String, String>> labels;

    /** {@code labels} says what labels follow from an image. */
    Answers(Function<NodeImage, Map<String, String>> labels) {
        this.labels = labels;
    }

    JsonObject node(NodeImage node) {
        var json = new JsonObject()
                .put("name", node.name())
                .put("revision", node.revision())
                .put("verdict", node.verdicts().node())
                .put("labels", new JsonObject(Map.copyOf(labels.apply(node))))
                .put("labelConflicts", new JsonArray(node.labelConflicts()))
                .put("devices", array(node.gpus().stream().map(gpu -> device(new Fleet.Place(node, gpu)))))
                .put("holders", array(node.holders().stream().map(Answers::holder)));
        text(json, "uid", node.nodeUid());
        if (node.presence() != null) {
            json.put("presence", node.presence().word())
                    .put("presenceSince", node.presence().since().toString());
        }
        node.announced().ifPresent(snapshot -> announcement(json, snapshot));
        return json;
    }

    private static void announcement(JsonObject json, Announcement snapshot) {
        json.put("announcedAt", snapshot.appendedAt().toString())
                .put("driverState", word(snapshot.driverState()))
                .put("migStrategy", word(snapshot.migStrategy()))
                .put(
                        "resources",
                        array(snapshot.resources().stream()
                                .map(it -> new JsonObject()
                                        .put("name", it.name())
                                        .put("capacity", it.capacity())
                                        .put("allocatable", it.allocatable()))));
        text(json, "bootId", snapshot.bootId());
        text(json, "daemonVersion", snapshot.daemonVersion());
        text(json, "deviceSource", snapshot.deviceSource());
        text(json, "driverVersion", snapshot.driverVersion());
        text(json, "cudaVersion", snapshot.cudaVersion());
        text(json, "kernelVersion", snapshot.kernelVersion());
        text(json, "machine", snapshot.machine());
    }

    JsonObject device(Fleet.Place place) {
        Gpu gpu = place.gpu();
        NodeImage node = place.node();
        var json = new JsonObject()
                .put("uuid", gpu.uuid())
                .put("node", node.name())
                .put("index", gpu.index())
                .put("minor", gpu.minor())
                .put("model", gpu.model())
                .put("health", node.healthOf(gpu))
                .put("localHealth", word(gpu.localHealth()))
                .put("memoryBytes", gpu.memoryBytes())
                .put("migMode", word(gpu.migMode()))
                .put("migInstances", array(gpu.instances().stream().map(Answers::instance)))
                .put("sharing", word(gpu.sharing().strategy()))
                .put("replicas", gpu.sharing().replicas())
                .put("nvlinkPeers", array(gpu.peers().stream().map(Answers::peer)))
                .put(
                        "holders",
                        array(node.holders().stream()
                                .filter(it -> holds(it, gpu))
                                .map(Answers::holder)));
        text(json, "verdict", node.verdicts().devices().getOrDefault(gpu.uuid(), ""));
        text(json, "shortModel", gpu.shortModel());
        text(json, "serial", gpu.serial());
        text(json, "pciBusId", gpu.pciBusId());
        text(json, "family", gpu.family());
        text(json, "computeCapability", gpu.computeCapability());
        text(json, "vbiosVersion", gpu.vbiosVersion());
        text(json, "fabricClique", gpu.fabricClique());
        text(json, "resource", gpu.resource());
        text(json, "mode", gpu.mode());
        if (gpu.numaNode() != null) {
            json.put("numaNode", gpu.numaNode());
        }
        return json;
    }

    private static JsonObject instance(Gpu.Instance instance) {
        var json = new JsonObject()
                .put("uuid", instance.uuid())
                .put("profile", instance.profile())
                .put("gpuInstanceId", instance.gpuInstanceId())
                .put("computeInstanceId", instance.computeInstanceId())
                .put("memoryBytes", instance.memoryBytes());
        text(json, "resource", instance.resource());
        return json;
    }

    private static JsonObject peer(Gpu.Peer peer) {
        var json = new JsonObject().put("links", peer.links()).put("viaSwitch", peer.viaSwitch());
        text(json, "pciBusId", peer.pciBusId());
        return json;
    }

    private static JsonObject holder(Holder holder) {
        return new JsonObject()
                .put("namespace", holder.namespace())
                .put("pod", holder.pod())
                .put("container", holder.container())
                .put("deviceIds", new JsonArray(holder.deviceIds()));
    }

    /** A holder has a GPU by its own id, by a replica of it, or by one of its MIG instances. */
    private static boolean holds(Holder holder, Gpu gpu) {
        List<String> ids = Stream.concat(
                        Stream.of(gpu.uuid()), gpu.instances().stream().map(Gpu.Instance::uuid))
                .toList();
        return holder.deviceIds().stream().anyMatch(id -> ids.contains(id.split("::", 2)[0]));
    }

    JsonObject summary(Census census, List<String> suspected) {
        return new JsonObject()
                .put("nodes", census.nodes())
                .put("presence", new JsonObject(Map.copyOf(census.presence())))
                .put("devices", new JsonObject(Map.copyOf(census.devices())))
                .put("heldDevices", census.heldDevices())
                .put("models", models(census))
                .put("busFault", !suspected.isEmpty())
                .put("silentNodes", new JsonArray(suspected));
    }

    JsonArray models(Census census) {
        return array(census.models().stream()
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

    private static void text(JsonObject json, String key, String value) {
        if (!value.isEmpty()) {
            json.put(key, value);
        }
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
