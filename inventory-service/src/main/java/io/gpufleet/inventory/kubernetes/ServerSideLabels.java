package io.gpufleet.inventory.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.inventory.app.LabelWriter;
import io.gpufleet.inventory.model.LabelSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Labels by server-side apply without force: the API server keeps who owns what, removes what we no longer claim, and
 * refuses what is somebody else's. The UID in the body makes sure that no Node is created or mistaken for another.
 */
public final class ServerSideLabels implements LabelWriter {
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(NodeReader.FIELD_MANAGER)
            .withForce(false)
            .build();
    private static final List<String> FIELDS = List.of(".metadata.labels.", ".metadata.annotations.");

    private final KubernetesClient client;

    /** Writes through the client. */
    public ServerSideLabels(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public Outcome apply(String node, String uid, LabelSet labels) {
        try {
            Node now = client.nodes().withName(node).patch(APPLY, body(node, uid, labels));
            return new Outcome.Applied(NodeReader.read(now));
        } catch (KubernetesClientException refused) {
            Set<String> keys = foreignKeys(refused);
            return keys.isEmpty() ? new Outcome.Failed(line(refused)) : new Outcome.Owned(keys);
        }
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

    private static Set<String> foreignKeys(KubernetesClientException refused) {
        return Optional.ofNullable(refused.getStatus())
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

    private static String line(KubernetesClientException refused) {
        String why = refused.getStatus() == null || refused.getStatus().getMessage() == null
                ? String.valueOf(refused.getMessage())
                : refused.getStatus().getMessage();
        return refused.getCode() == 0 ? why : refused.getCode() + " " + why;
    }
}
