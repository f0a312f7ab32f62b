package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.QuotaDesk;
import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.allocation.model.quota.Answer;
import io.gpufleet.allocation.model.quota.PodAsk;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** AdmissionReviews of {@code admission.k8s.io/v1}, answered by the quota desk of this replica. */
public final class AdmissionReviews implements ReviewDoor {
    private static final int FORBIDDEN = 403;

    private final QuotaDesk desk;

    /** In front of a desk. */
    public AdmissionReviews(QuotaDesk desk) {
        this.desk = desk;
    }

    /** Fails with {@link IllegalArgumentException} when it is no review of a pod. */
    @Override
    public CompletionStage<byte[]> answer(byte[] review) {
        JsonObject request;
        PodAsk pod;
        try {
            request = new JsonObject(Buffer.buffer(review)).getJsonObject("request", new JsonObject());
            if (!request.getString("operation", "").equals("CREATE") || request.getJsonObject("object") == null) {
                return CompletableFuture.completedStage(response(request, Answer.Admitted.PLAINLY));
            }
            pod = PodJson.read(request);
        } catch (DecodeException | ClassCastException unreadable) {
            return CompletableFuture.failedStage(
                    new IllegalArgumentException("not an AdmissionReview of a pod: " + unreadable.getMessage()));
        }
        return desk.ask(pod, request.getBoolean("dryRun", false)).thenApply(answer -> response(request, answer));
    }

    private static byte[] response(JsonObject request, Answer answer) {
        var response = new JsonObject().put("uid", request.getString("uid", ""));
        switch (answer) {
            case Answer.Admitted(var warnings) -> {
                response.put("allowed", true);
                if (!warnings.isEmpty()) {
                    response.put("warnings", new JsonArray(warnings));
                }
            }
            case Answer.Denied(String line) ->
                response.put("allowed", false)
                        .put(
                                "status",
                                new JsonObject()
                                        .put("code", FORBIDDEN)
                                        .put("reason", "Forbidden")
                                        .put("message", line));
            case Answer.Unavailable(String line) -> throw new UnavailableException(line);
        }
        return new JsonObject()
                .put("apiVersion", "admission.k8s.io/v1")
                .put("kind", "AdmissionReview")
                .put("response", response)
                .toBuffer()
                .getBytes();
    }
}
