package io.gpufleet.nodedaemon.state;

import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** JSON of a MIG instance. It is saved so that a GPU that is lost before the next start keeps the ids of its instances. */
final class MigInstanceJson {
    private MigInstanceJson() {}

    static JsonObject write(MigInstance instance) {
        var share = instance.attributes();
        return new JsonObject()
                .put("uuid", instance.uuid())
                .put("profile", instance.profile())
                .put("index", instance.index())
                .put("gpuInstance", instance.gpuInstance())
                .put("computeInstance", instance.computeInstance())
                .put("memoryBytes", share.memoryBytes())
                .put("multiprocessors", share.multiprocessors())
                .put("gpuSlices", share.slices().gpu())
                .put("computeSlices", share.slices().compute())
                .put("copyEngines", share.engines().copy())
                .put("decoders", share.engines().decoder())
                .put("encoders", share.engines().encoder())
                .put("jpegs", share.engines().jpeg())
                .put("ofas", share.engines().ofa())
                .put("capabilityNodes", new JsonArray(instance.capabilityNodes()));
    }

    static MigInstance read(JsonObject json) {
        return new MigInstance(
                json.getString("uuid"),
                json.getString("profile"),
                json.getInteger("index"),
                json.getInteger("gpuInstance"),
                json.getInteger("computeInstance"),
                new MigInstance.Attributes(
                        json.getLong("memoryBytes"),
                        json.getInteger("multiprocessors"),
                        new MigInstance.Slices(json.getInteger("gpuSlices"), json.getInteger("computeSlices")),
                        new MigInstance.Engines(
                                json.getInteger("copyEngines"),
                                json.getInteger("decoders"),
                                json.getInteger("encoders"),
                                json.getInteger("jpegs"),
                                json.getInteger("ofas"))),
                json.getJsonArray("capabilityNodes").stream()
                        .map(String.class::cast)
                        .toList(),
                new Reading.Unavailable<>("not saved"));
    }
}
