package io.gpufleet.nodedaemon.state;

import io.gpufleet.nodedaemon.app.StateStore.StoredState;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import io.gpufleet.nodedaemon.model.fault.FaultCauseState;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultNames;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.Observations;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.fault.WithdrawalDecision;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** JSON of the saved state. */
final class StateJson {
    private static final int FORMAT = 1;

    private StateJson() {}

    static String write(StoredState state, String devices) {
        var faults = new JsonArray();
        state.faults().forEach(fault -> faults.add(fault(fault)));
        var gpus = new JsonArray();
        state.gpus().forEach(gpu -> gpus.add(gpu(gpu)));
        return new JsonObject()
                .put("format", FORMAT)
                .put("devices", devices)
                .put("bootId", state.bootId())
                .put("faults", faults)
                .put("gpus", gpus)
                .put("learned", LearnedGpusJson.write(state.learned()))
                .put("sinceEpoch", state.sinceEpoch())
                .encodePrettily();
    }

    /** The source of the devices; {@code now} for state of earlier versions, which had none. */
    static String devices(JsonObject json, String now) {
        return json.getString("devices", now);
    }

    /** Reads saved state; throws a RuntimeException for any other JSON. */
    static StoredState read(JsonObject json) {
        if (json.getInteger("format", 0) != FORMAT) {
            throw new IllegalArgumentException("format is not " + FORMAT);
        }
        return new StoredState(
                json.getString("bootId"),
                each(json.getJsonArray("faults"), StateJson::fault),
                each(json.getJsonArray("gpus"), StateJson::gpu),
                LearnedGpusJson.read(json.getJsonObject("learned", new JsonObject())),
                json.getLong("sinceEpoch", 0L));
    }

    private static <T> List<T> each(JsonArray array, Function<JsonObject, T> reader) {
        return array.stream().map(JsonObject.class::cast).map(reader).toList();
    }

    private static JsonObject fault(OpenFault fault) {
        var origins = new JsonArray();
        fault.origins().forEach(origin -> origins.add(origin.name()));
        var json = new JsonObject()
                .put("gpu", fault.key().gpuUuid())
                .put("fault", FaultNames.of(fault.key().fault()))
                .put("mig", fault.migUuid())
                .put("model", fault.model())
                .put("origins", origins)
                .put("message", fault.message())
                .put("withdraws", fault.withdraws())
                .put("rule", fault.withdrawal().rule().name())
                .put("since", fault.since().toString())
                .put("observations", fault.observationCount());
        fault.subject().energyMillijoules().asOptional().ifPresent(value -> json.put("energyMillijoules", value));
        XidSubcode subcode = fault.subject().subcode();
        if (!subcode.name().isEmpty()) {
            json.put("subcode", subcode.name()).put("need", subcode.need().name());
        }
        if (fault.state() instanceof FaultCauseState.Resolved(long _, String proof)) {
            json.put("gone", proof);
        }
        return json;
    }

    private static OpenFault fault(JsonObject json) {
        Set<FaultOrigin> origins = EnumSet.noneOf(FaultOrigin.class);
        json.getJsonArray("origins").forEach(name -> origins.add(FaultOrigin.valueOf(String.valueOf(name))));
        String gone = json.getString("gone", "");
        return new OpenFault(
                new FaultKey(json.getString("gpu"), FaultNames.parse(json.getString("fault"))),
                new OpenFault.Subject(
                        json.getString("mig"),
                        json.getString("model"),
                        reading(json, "energyMillijoules", json::getLong),
                        new XidSubcode(
                                json.getString("subcode", ""),
                                XidSubcode.RepairNeed.valueOf(
                                        json.getString("need", XidSubcode.RepairNeed.UNSPECIFIED.name())))),
                Observations.restored(
                        Instant.parse(json.getString("since")),
                        json.getLong("observations"),
                        json.getString("message"),
                        origins),
                new Reading.Unavailable<>("not polled since"),
                new WithdrawalDecision(
                        json.getBoolean("withdraws"),
                        WithdrawalDecision.Rule.valueOf(json.getString("rule", WithdrawalDecision.Rule.KIND.name()))),
                gone.isEmpty() ? new FaultCauseState.Unmonitored() : new FaultCauseState.Resolved(0, gone));
    }

    private static JsonObject gpu(Gpu gpu) {
        var json = new JsonObject()
                .put("uuid", gpu.uuid())
                .put("index", gpu.index())
                .put("minor", gpu.identifiers().minor())
                .put("pciBusId", gpu.pciBusId())
                .put("model", gpu.model())
                .put("shortModel", gpu.product().shortModel())
                .put("family", gpu.product().family())
                .put("computeCapability", gpu.product().computeCapability());
        gpu.identifiers().serial().asOptional().ifPresent(value -> json.put("serial", value));
        gpu.memoryBytes().asOptional().ifPresent(value -> json.put("memoryBytes", value));
        gpu.identifiers().vbiosVersion().asOptional().ifPresent(value -> json.put("vbiosVersion", value));
        gpu.topology().numaNode().asOptional().ifPresent(value -> json.put("numaNode", value));
        gpu.mig().enabled().asOptional().ifPresent(value -> json.put("migEnabled", value));
        gpu.product().mode().asOptional().ifPresent(value -> json.put("mode", value));
        gpu.topology().pciRoute().asOptional().ifPresent(value -> json.put("pciRoute", new JsonArray(value)));
        gpu.vgpuHost()
                .asOptional()
                .ifPresent(host -> json.put(
                        "vgpuHost",
                        new JsonObject()
                                .put("driverVersion", host.driverVersion())
                                .put("driverBranch", host.driverBranch())));
        var instances = new JsonArray();
        gpu.instances().forEach(instance -> instances.add(MigInstanceJson.write(instance)));
        return json.put("instances", instances);
    }

    private static Gpu gpu(JsonObject json) {
        return new Gpu(
                new Gpu.Identifiers(
                        json.getString("uuid"),
                        reading(json, "serial", json::getString),
                        json.getInteger("index"),
                        json.getInteger("minor"),
                        json.getString("pciBusId"),
                        reading(json, "vbiosVersion", json::getString)),
                new Gpu.Product(
                        json.getString("model"),
                        json.getString("shortModel"),
                        json.getString("family"),
                        json.getString("computeCapability"),
                        reading(json, "mode", json::getString)),
                reading(json, "memoryBytes", json::getLong),
                new Gpu.Topology(
                        reading(json, "numaNode", json::getInteger),
                        List.of(),
                        new Reading.Unavailable<>("not read yet"),
                        reading(json, "pciRoute", name -> texts(json.getJsonArray(name)))),
                new Gpu.Mig(
                        reading(json, "migEnabled", json::getBoolean),
                        each(json.getJsonArray("instances", new JsonArray()), MigInstanceJson::read)),
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
