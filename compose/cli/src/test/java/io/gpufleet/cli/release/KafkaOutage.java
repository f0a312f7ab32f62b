package io.gpufleet.cli.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import java.time.Duration;

/** Kafka is away from an installation for longer than the kubelet takes to find replicas unready. */
public final class KafkaOutage {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int ASKED = 50;

    private KafkaOutage() {}

    /** No GPU pod of an enforced namespace is refused. */
    public static void admitsPods(
            BrokerProcess broker, Installation installation, RealCluster cluster, String namespace)
            throws InterruptedException {
        try (var pods = new AdmittedPods(cluster.client().getConfiguration(), namespace)) {
            broker.stop();
            // By then the kubelet has asked every replica of every service often enough
            await().atMost(TIMEOUT)
                    .untilAsserted(() ->
                            assertThat(installation.ready("health-service")).isZero());
            await().atMost(TIMEOUT)
                    .untilAsserted(() ->
                            assertThat(installation.ready("inventory-service")).isZero());
            int before = pods.admitted() + pods.refused().size();
            await().atMost(TIMEOUT).until(() -> pods.admitted() + pods.refused().size() >= before + ASKED);
            assertThat(installation.ready("allocation-service")).isEqualTo(2);
            assertThat(pods.refused()).isEmpty();
        } finally {
            broker.restart();
        }
    }
}
