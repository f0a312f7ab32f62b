package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.PatchBase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who wrote the taints of a Node last, by its managedFields. */
class NodeMapperTest {
    /** As an API server shows it after kubectl taint. */
    private static PatchBase base(String manager) {
        return NodeMapper.toModel(Serialization.unmarshal("""
                        apiVersion: v1
                        kind: Node
                        metadata:
                          name: node-1
                          uid: uid-1
                          labels: {gpufleet.io/pool: training}
                          managedFields:
                            - manager: %s
                              operation: Update
                              time: "2026-03-01T10:00:00Z"
                              fieldsV1: {"f:spec": {"f:taints": {}}}
                            - manager: kubelet
                              operation: Update
                              subresource: status
                              time: "2026-03-01T11:00:00Z"
                              fieldsV1: {"f:status": {"f:conditions": {}}}
                        spec: {taints: [{key: a, effect: NoSchedule}]}
                        """.formatted(manager), Node.class))
                .base();
    }

    @Test
    void lastWriterOfTheTaintsIsRead() {
        assertThat(base("kubectl-taint").taintsManager()).isEqualTo("kubectl-taint");
        assertThat(base(PatchBase.FIELD_MANAGER).taintsWrittenByUs()).isTrue();
    }

    @Test
    void clientsOfPeopleAreNoControllers() {
        assertThat(base("kubectl-edit").taintRemovedByController()).isFalse();
        assertThat(base("k9s").taintRemovedByController()).isFalse();
        assertThat(base("sweeper").taintRemovedByController()).isTrue();
        assertThat(base("octopus").taintRemovedByController()).isTrue();
    }

    @Test
    void controllersOfKubernetesRemoveNoTaintsOfOthers() {
        assertThat(base("kube-controller-manager").taintRemovedByController()).isFalse();
        assertThat(base("kube-controller-manager").taintRemover()).isEmpty();
    }

    @Test
    void labelsAreRead() {
        Node node = Serialization.unmarshal("""
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": "b"}}}""", Node.class);

        assertThat(NodeMapper.toModel(node).facts().labels()).containsEntry("a", "b");
        assertThat(NodeMapper.toModel(node).base().taintsManager()).isEmpty();
    }

    private static ObservedNode node(String metadata, String conditions) {
        return NodeMapper.toModel(Serialization.unmarshal("""
                apiVersion: v1
                kind: Node
                metadata: {name: n, %s}
                status: {conditions: [%s]}
                """.formatted(metadata, conditions), Node.class));
    }

    @Test
    void onlyAConditionThatSaysSoMakesANodeNotReady() {
        assertThat(node("uid: u", "").facts().placement().ready()).isTrue();
        assertThat(node("uid: u", "{type: Ready, status: \"True\"}")
                        .facts()
                        .placement()
                        .usable())
                .isTrue();
        assertThat(node("uid: u", "{type: Ready, status: Unknown}")
                        .facts()
                        .placement()
                        .ready())
                .isFalse();
    }

    @Test
    void anAnnotationDeclaresMaintenanceLikeALabel() {
        assertThat(node("annotations: {gpufleet.io/maintenance: fan}", "")
                        .facts()
                        .labels())
                .containsEntry("gpufleet.io/maintenance", "fan");
    }

    @Test
    void whatMustNotBePrintedIsABlankInTheReasonOfMaintenance() {
        assertThat(node("annotations: {gpufleet.io/maintenance: \"fan\\e[2J\\nof \\u202E rack 7\"}", "")
                        .facts()
                        .labels())
                .containsEntry("gpufleet.io/maintenance", "fan [2J of   rack 7");
    }

    private static AppliedAnnotation applied(String json) {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName("n")
                .addToAnnotations("gpufleet.io/applied", json)
                .endMetadata()
                .build();
        return NodeMapper.toModel(node).applied();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "[]",
                "5",
                "\"x\"",
                "{",
                "{\"revision\": \"x\"}",
                "{\"revision\": 1e99}",
                "\u0000",
                "[[[["
            })
    void malformedAnnotationListsNothing(String json) {
        assertThat(applied(json)).isEqualTo(AppliedAnnotation.NONE);
    }

    @Test
    void annotationNamesACordonOnlyWhereThereIsOne() {
        var without = new AppliedAnnotation(7, "Xid79", "unhealthy", "reboot", "");
        var with = new AppliedAnnotation(7, "", "unhealthy", "reboot", "", true);

        assertThat(NodeMapper.applied(without)).doesNotContain("cordon");
        assertThat(NodeMapper.applied(with)).contains("\"cordon\":true");
        assertThat(applied(NodeMapper.applied(without))).isEqualTo(without);
        assertThat(applied(NodeMapper.applied(with))).isEqualTo(with);
    }

    @Test
    void annotationOfALaterVersionIsRead() {
        assertThat(applied("{\"revision\": 7, \"taint\": \"Xid79\", \"later\": {\"a\": 1}}"))
                .isEqualTo(new AppliedAnnotation(7, "Xid79", "", "", ""));
        assertThat(applied("{\"revision\": 9223372036854775807}").revision()).isEqualTo(Long.MAX_VALUE);
    }
}
