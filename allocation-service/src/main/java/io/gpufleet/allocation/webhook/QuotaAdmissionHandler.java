package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.allocation.app.quota.QuotaDecider;
import io.gpufleet.allocation.app.quota.ResourceClaimReader;
import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Answers AdmissionReviews of {@code admission.k8s.io/v1} by the quota decider of this replica. */
public final class QuotaAdmissionHandler implements AdmissionReviewHandler {
    private static final int FORBIDDEN = 403;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final Set<String> REVIEWED = Set.of("CREATE", "UPDATE");

    private final QuotaDecider decider;

    /** Handler that asks this decider. */
    public QuotaAdmissionHandler(QuotaDecider decider) {
        this.decider = decider;
    }

    /** Fails with {@link IllegalArgumentException} for anything but the review of a pod, a ResourceClaim or a GpuQuota. */
    @Override
    public CompletionStage<byte[]> handle(byte[] review, long receivedNanos) {
        JsonObject request;
        try {
            request = new JsonObject(Buffer.buffer(review)).getJsonObject("request", new JsonObject());
            if (!REVIEWED.contains(request.getString("operation", "")) || request.getJsonObject("object") == null) {
                return CompletableFuture.completedStage(response(request, AdmissionDecision.Admitted.WITHOUT_WARNINGS));
            }
            return decide(request, receivedNanos);
        } catch (RuntimeException unreadable) {
            // A missing field, one of another type, null: whatever it is, it cannot be read.
            return CompletableFuture.failedStage(
                    new IllegalArgumentException("not an AdmissionReview of a pod: " + unreadable));
        }
    }

    private CompletionStage<byte[]> decide(JsonObject request, long receivedNanos) {
        JsonObject object = request.getJsonObject("object");
        return switch (request.getJsonObject("kind", new JsonObject()).getString("kind", "")) {
            case "GpuQuota" ->
                decider.warnings(QuotaJsonMapper.limits(object))
                        .thenApply(warnings -> response(request, new AdmissionDecision.Admitted(warnings)));
            case "ResourceClaim" ->
                decide(
                        request,
                        ResourceClaimReader.read(
                                object.getMap(), request.getString("namespace", ""), request.getString("uid", "")),
                        receivedNanos);
            default -> decide(request, PodJsonMapper.read(request), receivedNanos);
        };
    }

    private CompletionStage<byte[]> decide(JsonObject request, GpuPod pod, long receivedNanos) {
        return decider.decide(pod, request.getBoolean("dryRun", false), receivedNanos)
                .thenApply(decision -> response(request, decision));
    }

    private static JsonObject status(int code, String reason, String message) {
        return new JsonObject().put("code", code).put("reason", reason).put("message", message);
    }

    private static byte[] response(JsonObject request, AdmissionDecision decision) {
        var response = new JsonObject().put("uid", request.getString("uid", ""));
        switch (decision) {
            case AdmissionDecision.Admitted(var warnings) -> {
                response.put("allowed", true);
                if (!warnings.isEmpty()) {
                    response.put("warnings", new JsonArray(warnings));
                }
            }
            case AdmissionDecision.Denied(String message) ->
                response.put("allowed", false).put("status", status(FORBIDDEN, "Forbidden", message));
            // The API server passes it on as Retry-After, and the clients of Kubernetes wait so long.
            case AdmissionDecision.Throttled(String message) ->
                response.put("allowed", false)
                        .put(
                                "status",
                                status(TOO_MANY_REQUESTS, "TooManyRequests", message)
                                        .put("details", new JsonObject().put("retryAfterSeconds", 1)));
            case AdmissionDecision.Unavailable(String message) -> throw new UnavailableException(message);
        }
        return new JsonObject()
                .put("apiVersion", "admission.k8s.io/v1")
                .put("kind", "AdmissionReview")
                .put("response", response)
                .toBuffer()
                .getBytes();
    }
}
