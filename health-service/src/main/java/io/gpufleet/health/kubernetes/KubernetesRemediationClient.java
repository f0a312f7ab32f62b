package io.gpufleet.health.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpufleet.health.app.remediation.RemediationClient;
import io.gpufleet.health.model.remediation.Remediation;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Objects {@code GpuRemediation} of one API server. */
public final class KubernetesRemediationClient implements RemediationClient {
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final String API_VERSION = "gpufleet.io/v1alpha1";
    private static final String KIND = "GpuRemediation";
    private static final ResourceDefinitionContext TYPE = new ResourceDefinitionContext.Builder()
            .withGroup("gpufleet.io")
            .withVersion("v1alpha1")
            .withKind(KIND)
            .withPlural("gpuremediations")
            .withNamespaced(false)
            .build();
    private static final PatchContext MERGE = new PatchContext.Builder()
            .withPatchType(PatchType.JSON_MERGE)
            .withFieldManager("gpufleet-health")
            .build();

    private final KubernetesClient client;

    /** Uses the client, which the caller closes. */
    public KubernetesRemediationClient(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public RemediationResponse create(String node, Remediation remediation) {
        try {
            return found(client.genericKubernetesResources(TYPE)
                    .resource(object(node, remediation))
                    .create());
        } catch (KubernetesClientException failed) {
            return failed.getCode() == CONFLICT ? find(remediation) : failed(failed);
        }
    }

    @Override
    public RemediationResponse find(Remediation remediation) {
        return call(() -> Optional.ofNullable(named(remediation).get())
                .<RemediationResponse>map(KubernetesRemediationClient::found)
                .orElseGet(Absent::new));
    }

    @Override
    public RemediationResponse end(Remediation remediation, Found found, ObjectPhase phase, String message) {
        Map<String, Object> patch = Map.of(
                "metadata", Map.of("resourceVersion", found.version()),
                "status", Map.of("phase", text(phase), "message", message));
        try {
            String json = NodeMapper.JSON.writeValueAsString(patch);
            return call(() -> found(named(remediation).subresource("status").patch(MERGE, json)));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a map of texts is always JSON", impossible);
        }
    }

    private Resource<GenericKubernetesResource> named(Remediation remediation) {
        return client.genericKubernetesResources(TYPE).withName(remediation.name());
    }

    private static RemediationResponse call(Supplier<RemediationResponse> call) {
        try {
            return call.get();
        } catch (KubernetesClientException failed) {
            return failed(failed);
        }
    }

    private static RemediationResponse failed(KubernetesClientException failed) {
        return failed.getCode() == NOT_FOUND ? new Absent() : new Failed(ApiErrors.oneLine(failed));
    }

    private static GenericKubernetesResource object(String node, Remediation remediation) {
        var spec = new LinkedHashMap<String, Object>();
        spec.put("nodeName", node);
        spec.put("nodeUID", remediation.target().nodeUid());
        spec.put("bootID", remediation.target().bootId());
        spec.put(
                "devices",
                remediation.target().devices().stream()
                        .map(device -> Map.of("uuid", device.uuid(), "serial", device.serial()))
                        .toList());
        spec.put("action", remediation.action().slug());
        spec.put("reason", remediation.text());
        spec.put("evidence", remediation.evidence());
        spec.put("episode", remediation.episode());
        spec.put("attempt", remediation.attempt());
        spec.put("deadline", remediation.deadline().toString());
        return new GenericKubernetesResourceBuilder()
                .withApiVersion(API_VERSION)
                .withKind(KIND)
                .withNewMetadata()
                .withName(remediation.name())
                // The garbage collector removes it with its Node.
                .addNewOwnerReference()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node)
                .withUid(remediation.target().nodeUid())
                .endOwnerReference()
                .endMetadata()
                .addToAdditionalProperties("spec", spec)
                .build();
    }

    private static Found found(GenericKubernetesResource object) {
        return new Found(
                phase(text(object, "phase")),
                text(object, "claimedBy"),
                text(object, "message"),
                object.getMetadata().getResourceVersion());
    }

    private static String text(GenericKubernetesResource object, String field) {
        @Nullable Object value = object.get("status", field);
        return value == null ? "" : String.valueOf(value);
    }

    /** An object without a status waits; the definition allows no other phases. */
    private static ObjectPhase phase(String text) {
        return Arrays.stream(ObjectPhase.values())
                .filter(phase -> text(phase).equals(text))
                .findFirst()
                .orElse(ObjectPhase.PENDING);
    }

    /** For example {@code TimedOut}. */
    private static String text(ObjectPhase phase) {
        var text = new StringBuilder();
        for (String word : phase.name().split("_", -1)) {
            text.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return text.toString();
    }
}
