package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas as processes that ask an executor to reboot a node, each killed in the middle of it. */
class HealthServiceRemediationIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String ACTIVE = "gpufleet_active 1.0";
    private static final String NODE = "node-0";
    private static final String POLICY = """
            policy: reboots
            extends: nvidia
            remediation: {actions: [reboot]}
            """;

    @TempDir
    private Path dir;

    private TestBed bed;
    private NodeFields fields;
    private DaemonEventProducer daemon;
    private ProgramProcess first;
    private ProgramProcess second;

    @BeforeEach
    void startTwoReplicas() throws IOException {
        bed = TestBed.start(dir);
        fields = new NodeFields(bed.client());
        daemon = TestedHealthService.announceNodes(bed, 1).getFirst();
        Path policy = Files.writeString(dir.resolve("policy.yaml"), POLICY);
        first = TestedHealthService.start(bed, dir, "health-service-0", policy);
        await().atMost(TIMEOUT).until(() -> first.hasMetric(ACTIVE));
        second = TestedHealthService.start(bed, dir, "health-service-1", policy);
        await().atMost(TIMEOUT).until(() -> first.isReady() && second.isReady());
    }

    @AfterEach
    void stopAll() {
        daemon.close();
        second.close();
        first.close();
        bed.close();
    }

    @Test
    void killedLeadersAskForOneRebootWhichTheNextBootEnds() throws IOException {
        // Given a request whose object cannot be made yet
        daemon.hold(Instant.now(), Map.of()).observeXid(0, 79);
        await().atMost(TIMEOUT)
                .until(() -> remediation(first).getString("message", "").startsWith("cannot be made"));

        // When the leader ends between the request and the object
        first.kill();
        define();

        // Then its successor makes the one that was asked for
        await().atMost(TIMEOUT)
                .until(() -> remediation(second).getString("message", "").equals("waits for an executor"));
        GenericKubernetesResource made = onlyObject();
        assertThat(made.getMetadata().getName())
                .isEqualTo(remediation(second).getString("name"))
                .startsWith("reboot-");
        assertThat(made.<Map<String, Object>>get("spec"))
                .containsEntry("nodeName", NODE)
                .containsEntry("nodeUID", fields.read(NODE).getMetadata().getUid())
                .containsEntry("bootID", "boot-" + NODE)
                .containsEntry("action", "reboot")
                .containsEntry("episode", "xid-79")
                .containsEntry("attempt", 1);

        // When that one ends, and an executor claims the object
        first.restart();
        await().atMost(TIMEOUT).until(() -> first.isReady());
        second.kill();
        claim(made);

        // Then its successor goes on with it
        await().atMost(TIMEOUT)
                .until(() -> remediation(first).getString("message", "").equals("claimed by executor-1"));
        assertThat(onlyObject().getMetadata().getUid())
                .isEqualTo(made.getMetadata().getUid());

        // When the node boots
        try (var rebooted = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), NODE)) {
            rebooted.announce(
                    rebooted.announcement(TestGpus.h100(2)).setBootId("boot-2").build());

            // Then
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(onlyObject().<String>get("status", "phase"))
                            .isEqualTo("Succeeded"));
            assertThat(onlyObject().getMetadata().getUid())
                    .isEqualTo(made.getMetadata().getUid());
            assertThat(remediation(first).getString("phase")).isEqualTo("succeeded");
            await().atMost(TIMEOUT).until(() -> fields.taint(NODE).isEmpty());
        }
    }

    private void define() throws IOException {
        try (InputStream yaml = Files.newInputStream(Repository.module("k8s/components/remediation/crd.yaml"))) {
            bed.client().load(yaml).create();
        }
    }

    /** As every executor does before it acts. */
    private void claim(GenericKubernetesResource object) {
        objects()
                .withName(object.getMetadata().getName())
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"status\":{\"phase\":\"Claimed\",\"claimedBy\":\"executor-1\"}}");
    }

    private GenericKubernetesResource onlyObject() {
        List<GenericKubernetesResource> all = objects().list().getItems();
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    private MixedOperation<
                    GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>>
            objects() {
        return bed.client().genericKubernetesResources("gpufleet.io/v1alpha1", "GpuRemediation");
    }

    /** Empty while the service does not answer in time, or asks for nothing. */
    private static JsonObject remediation(ProgramProcess service) {
        return TestedHealthService.why(service, NODE).getJsonObject("remediation", new JsonObject());
    }
}
