package io.gpufleet.nodedaemon.disk;

import io.gpufleet.nodedaemon.app.StateStore.Remembered;
import io.gpufleet.nodedaemon.model.Cause;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Names;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Sightings;
import io.gpufleet.nodedaemon.model.Subcode;
import io.gpufleet.nodedaemon.model.VgpuHost;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** The kept state as JSON, readable by people. */
final class StateText {
    private static final int FORMAT = 1;

    private StateText() {}

    static String write(Remembered state) {
        var faults = new JsonArray();
        state.faults().forEach(fault -> faults.add(fault(fault)));
        var gpus = new JsonArray();
        state.gpus().forEach(gpu -> gpus.add(gpu(gpu)));
        return new JsonObject()
                .put("format", FORMAT)
                .put("bootId", state.bootId())
                .put("faults", faults)
                .put("gpus", gpus)
                .encodePrettily();
    }

    /** Refuses what it did not write with some RuntimeException. */
    static Remembered read(String text) {
        var json = new JsonObject(text);
        if (json.getInteger("format", 0) != FORMAT) {
            throw new IllegalArgumentException("format is not " + FORMAT);
        }
        return new Remembered(
                json.getString("bootId"),
                each(json.getJsonArray("faults"), StateText::fault),
                each(json.getJsonArray("gpus"), StateText::gpu));
    }

    private static <T> List<T> each(JsonArray array, Function<JsonObject, T> reader) {
        return array.stream().map(JsonObject.class::cast).map(reader).toList();
    }

    private static JsonObject fault(OpenFault fault) {
        var origins = new JsonArray();
        fault.origins().forEach(origin -> origins.add(origin.name()));
        var json = new JsonObject()
                .put("gpu", fault.key().gpuUuid())
                .put("fault", Names.of(fault.key().fault()))
                .put("mig", fault.migUuid())
                .put("model", fault.model())
                .put("origins", origins)
                .put("message", fault.message())
                .put("withdraws", fault.withdraws())
                .put("since", fault.since().toString())
                .put("observations", fault.observations());
        fault.subject().energyMillijoules().asOptional().ifPresent(value -> json.put("energyMillijoules", value));
        Subcode subcode = fault.subject().subcode();
        if (!subcode.name().isEmpty()) {
            json.put("subcode", subcode.name()).put("need", subcode.need().name());
        }
        if (fault.cause() instanceof Cause.Gone(long _, String proof)) {
            json.put("gone", proof);
        }
        return json;
    }

    private static OpenFault fault(JsonObject json) {
        Set<FaultOrigin> origins = EnumSet.noneOf(FaultOrigin.class);
        json.getJsonArray("origins").forEach(name -> origins.add(FaultOrigin.valueOf(String.valueOf(name))));
        String gone = json.getString("gone", "");
        return new OpenFault(
                new FaultKey(json.getString("gpu"), Names.fault(json.getString("fault"))),
                new OpenFault.Subject(
                        json.getString("mig"),
                        json.getString("model"),
                        reading(json, "energyMillijoules", json::getLong),
                        new Subcode(
                                json.getString("subcode", ""),
                                Subcode.Need.valueOf(json.getString("need", Subcode.Need.UNSAID.name())))),
                Sightings.kept(
                        Instant.parse(json.getString("since")),
                        json.getLong("observations"),
                        json.getString("message"),
                        origins),
                new Reading.Unavailable<>("not polled since"),
                json.getBoolean("withdraws"),
                gone.isEmpty() ? new Cause.Unwatched() : new Cause.Gone(0, gone));
    }

    private static JsonObject gpu(Gpu gpu) {
        var json = new JsonObject()
                .put("uuid", gpu.uuid())
                .put("index", gpu.index())
                .put("minor", gpu.minor())
                .put("pciBusId", gpu.pciBusId())
                .put("model", gpu.model())
                .put("shortModel", gpu.shortModel())
                .put("family", gpu.family())
                .put("computeCapability", gpu.computeCapability());
        gpu.serial().asOptional().ifPresent(value -> json.put("serial", value));
        gpu.memoryBytes().asOptional().ifPresent(value -> json.put("memoryBytes", value));
        gpu.vbiosVersion().asOptional().ifPresent(value -> json.put("vbiosVersion", value));
        gpu.numaNode().asOptional().ifPresent(value -> json.put("numaNode", value));
        gpu.migEnabled().asOptional().ifPresent(value -> json.put("migEnabled", value));
        gpu.mode().asOptional().ifPresent(value -> json.put("mode", value));
        gpu.pciRoute().asOptional().ifPresent(value -> json.put("pciRoute", new JsonArray(value)));
        gpu.vgpuHost()
                .asOptional()
                .ifPresent(host -> json.put(
                        "vgpuHost",
                        new JsonObject()
                                .put("driverVersion", host.driverVersion())
                                .put("driverBranch", host.driverBranch())));
        var instances = new JsonArray();
        gpu.instances().forEach(instance -> instances.add(InstanceText.write(instance)));
        return json.put("instances", instances);
    }

    private static Gpu gpu(JsonObject json) {
        return new Gpu(
                json.getString("uuid"),
                reading(json, "serial", json::getString),
                json.getInteger("index"),
                json.getInteger("minor"),
                json.getString("pciBusId"),
                json.getString("model"),
                json.getString("shortModel"),
                json.getString("family"),
                json.getString("computeCapability"),
                reading(json, "memoryBytes", json::getLong),
                reading(json, "vbiosVersion", json::getString),
                reading(json, "numaNode", json::getInteger),
                reading(json, "migEnabled", json::getBoolean),
                List.of(),
                new Reading.Unavailable<>("not read since the start"),
                reading(json, "mode", json::getString),
                each(json.getJsonArray("instances", new JsonArray()), InstanceText::read),
                reading(json, "pciRoute", name -> texts(json.getJsonArray(name))),
                reading(json, "vgpuHost", name -> vgpuHost(json.getJsonObject(name))));
    }

    private static VgpuHost vgpuHost(JsonObject json) {
        return new VgpuHost(json.getString("driverVersion"), json.getString("driverBranch"));
    }

    private static List<String> texts(JsonArray array) {
        return array.stream().map(String.class::cast).toList();
    }

    private static <T> Reading<T> reading(JsonObject json, String name, Function<String, T> getter) {
        return json.containsKey(name)
                ? new Reading.Known<>(getter.apply(name))
                : new Reading.Unavailable<>("not known before the start");
    }
}
