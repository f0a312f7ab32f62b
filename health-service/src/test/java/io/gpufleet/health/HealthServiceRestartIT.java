package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program while the API server is away, killed before it comes back. */
class HealthServiceRestartIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Codec CODEC = new Codec(TestBed.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));

    @TempDir
    private Path dir;

    @Test
    void taintIsAppliedAfterAKillBetweenVerdictAndPatch() throws Exception {
        // Given: a verdict that was not applied, since the API server was unavailable
        BrokerProcess broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), CODEC.topics());
        int port = FreePort.next(); // no connection of another program takes it while no API server listens
        FakeApiServer before = FakeApiServer.start("127.0.0.1", port);
        Path config = before.kubeconfig(dir.resolve("kubeconfig"));
        before.close();
        var first = start(broker, config);
        try (var apart = new DaemonEventProducer(broker.bootstrap(), CODEC, "apart")) {
            apart.announce(TestGpus.h100(2)).observeXid(0, 79);
            await().atMost(TIMEOUT)
                    .untilAsserted(() ->
                            assertThat(first.get("/v1/nodes/apart/why").body()).contains("\"trusted\":false"));
            assertThat(first.get("/readyz").body()).contains("Kubernetes API");

            // When
            first.kill();
            FakeApiServer back = FakeApiServer.start("127.0.0.1", port);
            try (KubernetesClient there = TestKubernetes.client(config)) {
                there.nodes()
                        .resource(new NodeBuilder()
                                .withNewMetadata()
                                .withName("apart")
                                .endMetadata()
                                .build())
                        .create();
                var second = start(broker, config);

                // Then
                await().atMost(TIMEOUT)
                        .untilAsserted(() -> assertThat(there.nodes()
                                        .withName("apart")
                                        .get()
                                        .getSpec()
                                        .getTaints())
                                .extracting(Taint::getValue)
                                .contains("Xid79"));
                second.close();
            } finally {
                back.close();
            }
        } finally {
            first.kill();
            broker.close();
        }
    }

    private ProgramProcess start(BrokerProcess broker, Path kubeconfig) {
        return TestedHealthService.program(dir)
                .environment(Map.of(
                        "GPUFLEET_CLUSTER",
                        CODEC.cluster(),
                        "GPUFLEET_KAFKA",
                        broker.bootstrap(),
                        "KUBECONFIG",
                        kubeconfig.toString()))
                .start();
    }
}
