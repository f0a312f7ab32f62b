package io.gpufleet.nodedaemon.state;

import io.gpufleet.nodedaemon.model.device.LearnedGpus;
import io.gpufleet.nodedaemon.model.device.LearnedGpus.LearnedGpu;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;

/** JSON of the GPUs that a node had. */
final class LearnedGpusJson {
    private LearnedGpusJson() {}

    static JsonObject write(LearnedGpus learned) {
        var gpus = new JsonArray();
        learned.gpus()
                .forEach(gpu -> gpus.add(new JsonObject()
                        .put("uuid", gpu.uuid())
                        .put("serial", gpu.serial())
                        .put("slot", gpu.slot())
                        .put("inSysfs", gpu.inSysfs())));
        return new JsonObject().put("since", learned.since().toString()).put("gpus", gpus);
    }

    /** Reads them; nothing is learned where an older daemon saved the state. */
    static LearnedGpus read(JsonObject json) {
        return json.isEmpty()
                ? LearnedGpus.NONE
                : new LearnedGpus(
                        Instant.parse(json.getString("since")),
                        json.getJsonArray("gpus").stream()
                                .map(JsonObject.class::cast)
                                .map(gpu -> new LearnedGpu(
                                        gpu.getString("uuid"),
                                        gpu.getString("serial"),
                                        gpu.getString("slot"),
                                        gpu.getBoolean("inSysfs")))
                                .toList());
    }
}
