package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.health.app.remediation.RemediationClient.Absent;
import io.gpufleet.health.app.remediation.RemediationClient.Failed;
import io.gpufleet.health.app.remediation.RemediationClient.Found;
import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.app.remediation.RemediationClient.RemediationResponse;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.Remediation.Target;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The definition on the API server of GPUFLEET_TEST_KUBECONFIG, with the rights of the manifests only. */
class RemediationClientClusterIT {
    private static final String NODE = "gpufleet-it-remediation";
    private static final String COMPONENT = "k8s/components/remediation/";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static ManifestRights rights;
    private static KubernetesClient admin;
    private static KubernetesRemediationClient service;

    private Remediation remediation = Remediation.NONE;

    @BeforeAll
    static void open() throws IOException {
        rights = ManifestRights.grant(
                NODE, List.of("k8s/base/services/health-service/rbac.yaml", COMPONENT + "rbac.yaml"));
        admin = rights.admin();
        service = new KubernetesRemediationClient(rights.limited());
        rights.install(COMPONENT + "crd.yaml");
        await().atMost(TIMEOUT)
                .until(() -> service.find(Remediation.NONE) instanceof Absent
                        && admin.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuRemediation")
                                        .list()
                                != null);
    }

    @AfterAll
    static void close() {
        admin.nodes().withName(NODE).delete();
        rights.close();
    }

    @BeforeEach
    void createNode() {
        admin.nodes().withName(NODE).delete();
        await().atMost(TIMEOUT).until(() -> admin.nodes().withName(NODE).get() == null);
        String uid = admin.nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NODE)
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoSchedule", "gpufleet.io/it", null, "remediation")
                        .endSpec()
                        .build())
                .create()
                .getMetadata()
                .getUid();
        remediation = new Remediation(
                new Target(uid, "boot-1", List.of(new RemediatedDevice("GPU-1", "123"))),
                RecommendedAction.REBOOT,
                "xid-79",
                1,
                Instant.parse("2030-01-01T00:00:00.123456789Z"),
                List.of("event-1"));
    }

    private static Found found(RemediationResponse response) {
        assertThat(response).isInstanceOf(Found.class);
        return (Found) response;
    }

    private void status(String json) {
        resource().subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":" + json + "}");
    }

    private io.fabric8.kubernetes.client.dsl.Resource<GenericKubernetesResource> resource() {
        return admin.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuRemediation")
                .withName(remediation.name());
    }

    @Test
    void theSameRemediationIsMadeOnce() {
        Found first = found(service.create(NODE, remediation));
        Found second = found(service.create(NODE, remediation));

        assertThat(first.phase()).isEqualTo(ObjectPhase.PENDING);
        assertThat(second.version()).isEqualTo(first.version());
    }

    @Test
    void objectSaysEverythingThatIsAskedFor() {
        service.create(NODE, remediation);

        GenericKubernetesResource made = resource().require();

        assertThat(made.<Map<String, Object>>get("spec"))
                .containsOnly(
                        Map.entry("nodeName", NODE),
                        Map.entry("nodeUID", remediation.target().nodeUid()),
                        Map.entry("bootID", "boot-1"),
                        Map.entry("devices", List.of(Map.of("uuid", "GPU-1", "serial", "123"))),
                        Map.entry("action", "reboot"),
                        Map.entry("reason", "reboot, attempt 1, for xid-79 of GPU-1"),
                        Map.entry("evidence", List.of("event-1")),
                        Map.entry("episode", "xid-79"),
                        Map.entry("attempt", 1),
                        Map.entry("deadline", "2030-01-01T00:00:00.123456789Z"));
        assertThat(made.getMetadata().getOwnerReferences())
                .singleElement()
                .extracting(OwnerReference::getKind, OwnerReference::getName, OwnerReference::getUid)
                .containsExactly("Node", NODE, remediation.target().nodeUid());
    }

    @Test
    void whatIsAskedForCanNotBeEdited() {
        service.create(NODE, remediation);

        assertThatThrownBy(() -> resource()
                        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"action\":\"power-cycle\"}}"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("what is asked for does not change");
    }

    @Test
    void onlyOneExecutorClaimsIt() {
        service.create(NODE, remediation);

        status("{\"phase\":\"Claimed\",\"claimedBy\":\"one\"}");

        assertThatThrownBy(() -> status("{\"phase\":\"Claimed\",\"claimedBy\":\"two\"}"))
                .hasMessageContaining("another executor claimed it");
        assertThatThrownBy(() -> status("{\"phase\":\"Pending\"}")).hasMessageContaining("a claim is not given back");
        assertThat(found(service.find(remediation)))
                .extracting(Found::phase, Found::executor)
                .containsExactly(ObjectPhase.CLAIMED, "one");
    }

    @Test
    void nobodyClaimsWhatHasEnded() {
        Found pending = found(service.create(NODE, remediation));

        Found ended = found(service.end(remediation, pending, ObjectPhase.TIMED_OUT, "no effect"));

        assertThat(ended.phase()).isEqualTo(ObjectPhase.TIMED_OUT);
        assertThatThrownBy(() -> status("{\"phase\":\"Claimed\",\"claimedBy\":\"late\"}"))
                .hasMessageContaining("it has ended");
    }

    @Test
    void aClaimInBetweenIsNotOverwritten() {
        Found pending = found(service.create(NODE, remediation));
        status("{\"phase\":\"Claimed\",\"claimedBy\":\"one\"}");

        assertThat(service.end(remediation, pending, ObjectPhase.WITHDRAWN, "maintenance"))
                .isInstanceOf(Failed.class);
        assertThat(found(service.find(remediation)).phase()).isEqualTo(ObjectPhase.CLAIMED);
    }

    @Test
    void aDeletedOneIsAbsent() {
        service.create(NODE, remediation);
        resource().delete();

        await().atMost(TIMEOUT).until(() -> service.find(remediation) instanceof Absent);
    }

    @Test
    void itGoesWithItsNode() {
        service.create(NODE, remediation);

        admin.nodes().withName(NODE).delete();

        await().atMost(TIMEOUT).until(() -> service.find(remediation) instanceof Absent);
    }
}
