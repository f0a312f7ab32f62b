package io.gpufleet.inventory.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.inventory.app.KubernetesNodeEvent;
import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.app.NodeWriter;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.TaintPlan;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies labels by server-side apply without force: the API server tracks the owner of each key, removes keys that are no
 * longer applied, and rejects keys of other owners. The UID in the body prevents that a Node is created or that another
 * Node of the same name is labelled. The list of taints has one owner only, so that taints are changed by a JSON Patch
 * instead.
 */
public final class KubernetesNodeWriter implements NodeWriter {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesNodeWriter.class);

    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(NodeObjectMapper.FIELD_MANAGER)
            .withForce(false)
            .build();
    private static final PatchContext JSON_PATCH = new PatchContext.Builder()
            .withPatchType(PatchType.JSON)
            .withFieldManager(NodeObjectMapper.FIELD_MANAGER)
            .build();
    private static final List<String> FIELDS = List.of(".metadata.labels.", ".metadata.annotations.");

    private final KubernetesClient client;
    private final Clock clock;

    /** Writes through {@code client}; Events carry the time of {@code clock}. */
    public KubernetesNodeWriter(KubernetesClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    @Override
    public ApplyResult apply(String node, String uid, LabelSet labels) {
        try {
            // A resource with an item is patched in one request; one that is only named would be read before.
            Node updated = client.resource(named(node)).patch(APPLY, body(node, uid, labels));
            return new ApplyResult.Applied(NodeObjectMapper.toModel(updated));
        } catch (KubernetesClientException rejected) {
            Set<String> keys = conflictingKeys(rejected);
            return keys.isEmpty()
                    ? new ApplyResult.Failed(ApiErrorMessage.of(rejected))
                    : new ApplyResult.Conflict(keys);
        }
    }

    @Override
    public PatchResult patchTaints(NodeObject observed, TaintPlan plan) {
        String patch = client.getKubernetesSerialization().asJson(TaintPatch.of(observed, plan));
        try {
            Node updated = client.resource(named(observed.name())).patch(JSON_PATCH, patch);
            return new PatchResult.Patched(NodeObjectMapper.toModel(updated));
        } catch (KubernetesClientException rejected) {
            return new PatchResult.Failed(ApiErrorMessage.of(rejected));
        }
    }

    @Override
    public void recordEvent(NodeObject node, KubernetesNodeEvent event) {
        try {
            client.resource(KubernetesNodeEventMapper.toKubernetes(node, event, clock.instant()))
                    .create();
        } catch (KubernetesClientException rejected) {
            LOG.atWarn()
                    .addKeyValue("node", node.name())
                    .addKeyValue("error", ApiErrorMessage.of(rejected))
                    .log("Kubernetes Event not written");
        }
    }

    private static Node named(String node) {
        return new NodeBuilder().withNewMetadata().withName(node).endMetadata().build();
    }

    private String body(String node, String uid, LabelSet labels) {
        var metadata = new TreeMap<String, Object>(Map.of("name", node, "uid", uid));
        if (!labels.labels().isEmpty()) {
            metadata.put("labels", labels.labels());
        }
        if (!labels.annotations().isEmpty()) {
            metadata.put("annotations", labels.annotations());
        }
        return client.getKubernetesSerialization()
                .asJson(new TreeMap<>(Map.of("apiVersion", "v1", "kind", "Node", "metadata", metadata)));
    }

    private static Set<String> conflictingKeys(KubernetesClientException rejected) {
        return Optional.ofNullable(rejected.getStatus())
                .flatMap(status -> Optional.ofNullable(status.getDetails()))
                .map(details -> details.getCauses())
                .orElse(List.of())
                .stream()
                .filter(cause -> "FieldManagerConflict".equals(cause.getReason()))
                .map(StatusCause::getField)
                .flatMap(field ->
                        FIELDS.stream().filter(field::startsWith).map(prefix -> field.substring(prefix.length())))
                .collect(Collectors.toSet());
    }
}
