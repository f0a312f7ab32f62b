package io.gpufleet.inventory.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.gpufleet.inventory.app.KubernetesNodeEvent;
import io.gpufleet.inventory.app.NodeObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Maps Events about Nodes to objects. */
final class KubernetesNodeEventMapper {
    /** Events about objects without a namespace. */
    static final String NAMESPACE = "default";

    private KubernetesNodeEventMapper() {}

    static Event toKubernetes(NodeObject node, KubernetesNodeEvent event, Instant now) {
        String time = now.truncatedTo(ChronoUnit.SECONDS).toString();
        return new EventBuilder()
                .withNewMetadata()
                .withGenerateName(node.name() + ".")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .withType(event.warning() ? "Warning" : "Normal")
                .withReason(event.reason())
                .withMessage(event.message())
                .withCount(1)
                .withFirstTimestamp(time)
                .withLastTimestamp(time)
                .withReportingComponent(NodeObjectMapper.FIELD_MANAGER)
                .withReportingInstance(NodeObjectMapper.FIELD_MANAGER)
                .withNewSource()
                .withComponent(NodeObjectMapper.FIELD_MANAGER)
                .withHost(node.name())
                .endSource()
                .withNewInvolvedObject()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node.name())
                .withUid(node.uid())
                .endInvolvedObject()
                .build();
    }
}
