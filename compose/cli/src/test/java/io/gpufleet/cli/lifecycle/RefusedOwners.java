package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;

/** A Deployment and a Job whose pods a quota refuses: who wrote them reads why in their Events. */
final class RefusedOwners {
    private static final String OWNERS = Repository.module("compose/cli/src/test/resources")
            .resolve("gpufleet-it-refused-owners.yaml")
            .toString();

    private RefusedOwners() {}

    /** Makes them in a namespace, and deletes them when the Events of both have these words. */
    static void assertEventsSay(RealCluster cluster, String namespace, String... words) {
        Kubectl.run("-n", namespace, "apply", "-f", OWNERS);
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(refusals(cluster, namespace))
                        .containsKeys("ReplicaSet", "Job")
                        .allSatisfy(
                                (kind, message) -> assertThat(message).as(kind).contains(words)));
        // kubectl describe of a Deployment shows its conditions; the Events are those of its ReplicaSet
        assertThat(Kubectl.run(
                        "-n",
                        namespace,
                        "get",
                        "deployment",
                        "refused",
                        "-o",
                        "jsonpath={.status.conditions[?(@.type=='ReplicaFailure')].message}"))
                .contains(words);
        Kubectl.run("-n", namespace, "delete", "-f", OWNERS);
    }

    /** Messages by kind of the owner. */
    private static Map<String, String> refusals(RealCluster cluster, String namespace) {
        return cluster.client().v1().events().inNamespace(namespace).list().getItems().stream()
                .filter(event -> "FailedCreate".equals(event.getReason()))
                .collect(Collectors.toMap(
                        event -> event.getInvolvedObject().getKind(), Event::getMessage, (one, _) -> one));
    }
}
