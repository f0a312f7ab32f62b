package io.gpufleet.testbed.fakeapiserver;

import static io.gpufleet.testbed.fakeapiserver.TestObjects.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Contract of server-side apply: ownership, conflicts, removal of fields without owner. */
interface ApplyContract {
    TestObjects testObjects();

    private KubernetesClient client() {
        return testObjects().client();
    }

    private static Node claim(Node node, Map<String, String> labels) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(node.getMetadata().getName())
                .withLabels(labels)
                .endMetadata()
                .build();
    }

    private Node apply(String manager, Node claim) {
        return client().resource(claim).fieldManager(manager).serverSideApply();
    }

    @Test
    default void applyCreatesWhatIsMissing() {
        // Given
        ConfigMap claim = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(testObjects().uniqueName("applied"))
                .withNamespace(testObjects().namespace())
                .endMetadata()
                .addToData("a", "1")
                .build();
        // When
        ConfigMap made = client().resource(claim).fieldManager("one").serverSideApply();
        // Then
        assertThat(made.getMetadata().getUid()).isNotBlank();
        assertThat(made.getMetadata().getManagedFields())
                .extracting(ManagedFieldsEntry::getManager, ManagedFieldsEntry::getOperation)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("one", "Apply"));
    }

    @Test
    default void applyWithUidToMissingObjectIsRefused() {
        // Given
        Node claim = new NodeBuilder()
                .withNewMetadata()
                .withName(testObjects().uniqueName("gone"))
                .withUid("11111111-2222-3333-4444-555555555555")
                .endMetadata()
                .build();
        // When
        var refused = refusal(() -> apply("one", claim));
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(refused.getStatus().getMessage())
                .contains("uid mismatch: the provided object specified uid 11111111-2222-3333-4444-555555555555,"
                        + " and no existing object was found");
    }

    @Test
    default void applyToAnotherUidIsRefused() {
        // Given
        Node node = testObjects().node(1);
        Node claim = new NodeBuilder(claim(node, Map.of("a", "1")))
                .editMetadata()
                .withUid("11111111-2222-3333-4444-555555555555")
                .endMetadata()
                .build();
        // When
        var refused = refusal(() -> apply("one", claim));
        // Then
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(refused.getStatus().getMessage())
                .endsWith("metadata.uid: Invalid value: \"11111111-2222-3333-4444-555555555555\": field is immutable");
        assertThat(client().resource(node).get().getMetadata().getLabels()).doesNotContainKey("a");
    }

    @Test
    default void anotherOwnersLabelIsNotOverwritten() {
        // Given
        Node node = testObjects().node(1);
        apply("one", claim(node, Map.of("contract/x", "1", "contract/y", "1")));
        // When
        var refused = refusal(() -> apply("two", claim(node, Map.of("contract/x", "2"))));
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(refused.getStatus().getReason()).isEqualTo("Conflict");
        assertThat(refused.getStatus().getMessage())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"one\": .metadata.labels.contract/x");
        var cause = refused.getStatus().getDetails().getCauses().getFirst();
        assertThat(cause.getReason()).isEqualTo("FieldManagerConflict");
        assertThat(cause.getField()).isEqualTo(".metadata.labels.contract/x");
        assertThat(cause.getMessage()).isEqualTo("conflict with \"one\"");
    }

    @Test
    default void severalConflictsAreReportedTogether() {
        // Given
        Node node = testObjects().node(1);
        apply("one", claim(node, Map.of("contract/x", "1", "contract/y", "1")));
        // When
        var refused = refusal(() -> apply("two", claim(node, Map.of("contract/x", "2", "contract/y", "2"))));
        // Then
        assertThat(refused.getStatus().getMessage())
                .isEqualTo("Apply failed with 2 conflicts: conflicts with \"one\":\n"
                        + "- .metadata.labels.contract/x\n- .metadata.labels.contract/y");
    }

    @Test
    default void forceTakesTheField() {
        // Given
        Node node = testObjects().node(1);
        apply("one", claim(node, Map.of("contract/x", "1", "contract/y", "1")));
        // When
        client().resource(claim(node, Map.of("contract/x", "2")))
                .fieldManager("two")
                .forceConflicts()
                .serverSideApply();
        // Then
        Node found = apply("one", claim(node, Map.of()));
        assertThat(found.getMetadata().getLabels())
                .containsEntry("contract/x", "2")
                .doesNotContainKey("contract/y");
    }

    @Test
    default void fieldNoLongerAppliedIsRemovedUnlessAnotherOwnsIt() {
        // Given
        Node node = testObjects().node(1);
        apply("one", claim(node, Map.of("contract/shared", "1", "contract/mine", "1")));
        apply("two", claim(node, Map.of("contract/shared", "1")));
        // When
        Node afterOne = apply("one", claim(node, Map.of()));
        Node afterTwo = apply("two", claim(node, Map.of()));
        // Then
        assertThat(afterOne.getMetadata().getLabels())
                .containsEntry("contract/shared", "1")
                .doesNotContainKey("contract/mine");
        assertThat(afterTwo.getMetadata().getLabels()).doesNotContainKey("contract/shared");
        assertThat(afterTwo.getMetadata().getLabels()).containsKey("contract-node");
    }

    @Test
    default void repeatedApplyChangesNothing() {
        // Given
        Node node = testObjects().node(1);
        Node claim = claim(node, Map.of("contract/x", "1"));
        String path = "/metadata/labels/contract~1x";
        apply("one", claim);
        ConfigMap map = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(testObjects().uniqueName("twice"))
                .withNamespace(testObjects().namespace())
                .endMetadata()
                .addToData("path", path)
                .build();
        // When
        String first = client().resource(map)
                .fieldManager("one")
                .serverSideApply()
                .getMetadata()
                .getResourceVersion();
        String second = client().resource(map)
                .fieldManager("one")
                .serverSideApply()
                .getMetadata()
                .getResourceVersion();
        // Then
        assertThat(second).isEqualTo(first);
    }

    @Test
    default void updateTakesOwnershipAndNextApplyConflicts() {
        // Given
        ConfigMap claim = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(testObjects().uniqueName("overwritten"))
                .withNamespace(testObjects().namespace())
                .endMetadata()
                .addToData("a", "1")
                .build();
        client().resource(claim).fieldManager("one").serverSideApply();
        // When
        client().resource(claim).patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"a\":\"2\"}}");
        var refused = refusal(() -> client().resource(claim).fieldManager("one").serverSideApply());
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(refused.getStatus().getMessage())
                .startsWith("Apply failed with 1 conflict: conflict with \"")
                .endsWith(": .data.a");
    }

    @Test
    default void firstApplyConflictsWithEarlierUpdates() {
        // Given
        ConfigMap bare = client().resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(testObjects().uniqueName("bare"))
                        .withNamespace(testObjects().namespace())
                        .endMetadata()
                        .build())
                .create();
        client().configMaps()
                .inNamespace(testObjects().namespace())
                .withName(bare.getMetadata().getName())
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"a\":\"1\"}}");
        // When
        var refused = refusal(() -> client().resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(bare.getMetadata().getName())
                        .withNamespace(testObjects().namespace())
                        .endMetadata()
                        .addToData("a", "2")
                        .build())
                .fieldManager("one")
                .serverSideApply());
        // Then
        assertThat(refused.getStatus().getMessage())
                .startsWith("Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1")
                .endsWith(": .data.a");
    }

    @Test
    default void taintsAreOwnedAsOneList() {
        // Given
        Node node = testObjects().node(1);
        // A real control plane removes its not-ready taint first, and would own the list otherwise.
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .until(() -> client().resource(node).get().getSpec().getTaints().isEmpty());
        apply("one", withTaint(node, "contract/a"));
        // When
        var refused = refusal(() -> apply("two", withTaint(node, "contract/b")));
        Node replaced = apply("one", withTaint(node, "contract/c"));
        Node removed = apply("one", claim(node, Map.of()));
        // Then
        assertThat(refused.getStatus().getMessage())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"one\": .spec.taints");
        assertThat(replaced.getSpec().getTaints())
                .extracting(taint -> taint.getKey())
                .containsExactly("contract/c");
        assertThat(removed.getSpec().getTaints()).isEmpty();
    }

    private static Node withTaint(Node node, String key) {
        return new NodeBuilder(claim(node, Map.of()))
                .withNewSpec()
                .withTaints(
                        new TaintBuilder().withKey(key).withEffect("NoSchedule").build())
                .endSpec()
                .build();
    }

    @Test
    default void conditionsAreOwnedByType() {
        // Given
        Node node = testObjects().node(1);
        // When
        applyStatus(withCondition(node, "GpuUnhealthy", "True"));
        Node changed = applyStatus(withCondition(node, "GpuUnhealthy", "False"));
        Node other = applyStatus(withCondition(node, "GpuOther", "True"));
        // Then
        assertThat(changed.getStatus().getConditions())
                .extracting(NodeCondition::getType, NodeCondition::getStatus)
                .contains(
                        org.assertj.core.groups.Tuple.tuple("Ready", "True"),
                        org.assertj.core.groups.Tuple.tuple("GpuUnhealthy", "False"));
        assertThat(other.getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .contains("Ready", "GpuOther")
                .doesNotContain("GpuUnhealthy");
    }

    private Node applyStatus(Node claim) {
        return client().resource(claim)
                .subresource("status")
                .patch(
                        new PatchContext.Builder()
                                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                                .withFieldManager("one")
                                .withForce(true)
                                .build(),
                        claim);
    }

    private static Node withCondition(Node node, String type, String status) {
        return new NodeBuilder(claim(node, Map.of()))
                .withNewStatus()
                .withConditions(new NodeConditionBuilder()
                        .withType(type)
                        .withStatus(status)
                        .withReason("Test")
                        .withMessage("set by a test")
                        .build())
                .endStatus()
                .build();
    }
}
