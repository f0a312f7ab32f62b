package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.model.quota.GpuSelector;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Maps the limits of a GpuQuota of an AdmissionReview from JSON. GpuQuotaMapper of the Kubernetes package maps the same
 * fields of fabric8's object, which is not allowed here.
 */
final class QuotaJsonMapper {
    private QuotaJsonMapper() {}

    static List<QuotaLimit> limits(JsonObject quota) {
        JsonObject spec = quota.getJsonObject("spec", new JsonObject());
        List<QuotaLimit> limits = new ArrayList<>();
        for (Object row : spec.getJsonArray("limits", new JsonArray())) {
            if (row instanceof JsonObject limit) {
                limits.addAll(QuotaLimit.of(kinds(limit), max(limit)));
            }
        }
        return limits;
    }

    private static GpuSelector.Kinds kinds(JsonObject limit) {
        return new GpuSelector.Kinds(
                text(limit, "model"), text(limit, "product"), text(limit, "migProfile"), text(limit, "resource"));
    }

    private static String text(JsonObject limit, String field) {
        return Objects.requireNonNullElse(limit.getString(field), "");
    }

    private static Map<QuotaLimit.Unit, Integer> max(JsonObject limit) {
        Map<QuotaLimit.Unit, Integer> max = new TreeMap<>();
        if (limit.containsKey("gpus")) {
            max.put(QuotaLimit.Unit.GPUS, limit.getInteger("gpus"));
        }
        if (limit.containsKey("devices")) {
            max.put(QuotaLimit.Unit.DEVICES, limit.getInteger("devices"));
        }
        return max;
    }
}
