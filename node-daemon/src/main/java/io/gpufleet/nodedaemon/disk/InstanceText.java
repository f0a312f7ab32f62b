package io.gpufleet.nodedaemon.disk;

import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Reading;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** A MIG instance as JSON: a GPU that is lost before the next start must still be listed under its instances' ids. */
final class InstanceText {
    private InstanceText() {}

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
                .put("gpuSlices", share.gpuSlices())
                .put("computeSlices", share.computeSlices())
                .put("copyEngines", share.copyEngines())
                .put("decoders", share.decoders())
                .put("encoders", share.encoders())
                .put("jpegs", share.jpegs())
                .put("ofas", share.ofas())
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
                        json.getInteger("gpuSlices"),
                        json.getInteger("computeSlices"),
                        json.getInteger("copyEngines"),
                        json.getInteger("decoders"),
                        json.getInteger("encoders"),
                        json.getInteger("jpegs"),
                        json.getInteger("ofas")),
                json.getJsonArray("capabilityNodes").stream()
                        .map(String.class::cast)
                        .toList(),
                new Reading.Unavailable<>("not kept"));
    }
}
