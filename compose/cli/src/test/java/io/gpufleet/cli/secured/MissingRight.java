package io.gpufleet.cli.secured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.local.BrokerRights.Right;
import io.gpufleet.testbed.testkit.RealCluster;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.acl.AclOperation;

/** A right at Kafka that the health-service of an installation loses and has again. */
final class MissingRight {
    private static final String SERVICE = "health-service";
    private static final int REPLICAS = 3;
    private static final String REASON = "Kafka refuses topic gpu.verdicts: grant WRITE on it to the principal of "
            + SERVICE + " (proto/TOPICS.md, Rights)";
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private MissingRight() {}

    /** No replica is ready without it, and each says in one line of its log which it is. */
    static void isNamedUntilItIsThere(SecuredKafka kafka, RealCluster cluster, Installation installation)
            throws Exception {
        var right = new Right(SERVICE, "topic", "gpu.verdicts", AclOperation.WRITE);
        int restarts = installation.restarts(Installation.SERVICES);

        kafka.revoke(right);

        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(installation.ready(SERVICE))
                        .as(logs()::toString)
                        .isZero());
        assertThat(readiness(cluster)).contains(REASON);
        kafka.grantAgain(right);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(installation.ready(SERVICE))
                        .as(logs()::toString)
                        .isEqualTo(REPLICAS));
        assertThat(logs())
                .allSatisfy(log -> assertThat(log.lines().filter(line -> line.contains(REASON)))
                        .as(log)
                        .hasSize(1));
        assertThat(installation.restarts(Installation.SERVICES)).isEqualTo(restarts);
    }

    private static List<String> logs() {
        return IntStream.range(0, REPLICAS)
                .mapToObj(replica -> Kubectl.run("-n", Installation.SERVICES, "logs", SERVICE + "-" + replica))
                .toList();
    }

    /** What a replica answers to the kubelet, by the API server's proxy: kubectl does not print the body of a 503. */
    private static String readiness(RealCluster cluster) {
        var http = cluster.client().getHttpClient();
        var request = http.newHttpRequestBuilder()
                .uri(cluster.client().getMasterUrl() + "api/v1/namespaces/" + Installation.SERVICES + "/pods/https:"
                        + SERVICE + "-0:8080/proxy/readyz")
                .build();
        return http.sendAsync(request, String.class).join().body();
    }
}
