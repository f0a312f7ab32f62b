package io.gpufleet.cli.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The component network-policies takes effect between real pods that have the labels of the programs. */
class NetworkPoliciesClusterIT {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final Path COMPONENT = Repository.module("k8s/components/network-policies");
    private static final Map<String, Map<String, String>> NAMESPACES = Map.of(
            "gpufleet-system", Map.of(),
            "gpufleet-node", Map.of(),
            "team-a", Map.of(),
            "sre", Map.of("gpufleet.io/reads", "allowed"),
            "monitoring", Map.of(),
            "kafka", Map.of());
    /** As namespace/label; the pod has the name of its label. */
    private static final List<String> PODS = List.of(
            "gpufleet-system/inventory-service",
            "gpufleet-system/health-service",
            "gpufleet-system/allocation-service",
            "gpufleet-node/node-daemon",
            "team-a/allocation-service",
            "sre/reader",
            "monitoring/prometheus",
            "kafka/kafka");

    private static final List<Connection> ALLOWED = Connection.list("""
        sre/reader                         gpufleet-system/inventory-service  8080
        sre/reader                         gpufleet-system/inventory-service  9090
        monitoring/prometheus              gpufleet-system/health-service     8080
        monitoring/prometheus              gpufleet-node/node-daemon          9400
        gpufleet-system/allocation-service gpufleet-system/health-service     9090
        gpufleet-system/inventory-service  kafka/kafka                        9092
        gpufleet-node/node-daemon          kafka/kafka                        9092
        team-a/allocation-service          gpufleet-system/allocation-service 8443
        """);
    private static final List<Connection> DENIED = Connection.list("""
        team-a/allocation-service          gpufleet-system/inventory-service  8080
        team-a/allocation-service          gpufleet-system/allocation-service 9090
        team-a/allocation-service          gpufleet-node/node-daemon          9400
        sre/reader                         gpufleet-system/health-service     8443
        sre/reader                         gpufleet-node/node-daemon          9400
        monitoring/prometheus              gpufleet-system/allocation-service 9090
        gpufleet-node/node-daemon          team-a/allocation-service          80
        gpufleet-node/node-daemon          gpufleet-system/inventory-service  8080
        gpufleet-system/inventory-service  team-a/allocation-service          80
        """);
    /** Servers that take any number of connections at a time. */
    private static final String LISTEN = "for port in 80 8080 8443 9090 9092 9400; do httpd -f -p $port & done; wait";

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static PolicyEngine engine;

    @BeforeAll
    static void startEngineAndPods() throws IOException {
        cluster = RealCluster.open();
        engine = PolicyEngine.start(cluster.nodeName(), directory.resolve("kube-router.log"));
        NAMESPACES.forEach((name, labels) -> cluster.client()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .serverSideApply());
        PODS.forEach(pod -> {
            Pod listening = RealCluster.pod(namespace(pod), name(pod), 0, LISTEN);
            listening.getMetadata().setLabels(Map.of("app.kubernetes.io/name", name(pod)));
            cluster.client().resource(listening).create();
        });
        PODS.forEach(pod -> cluster.client()
                .pods()
                .inNamespace(namespace(pod))
                .withName(name(pod))
                .waitUntilReady(LIMIT.toSeconds(), TimeUnit.SECONDS));
    }

    @AfterAll
    static void remove() throws IOException, InterruptedException {
        try {
            if (engine != null) {
                NAMESPACES
                        .keySet()
                        .forEach(name ->
                                cluster.client().namespaces().withName(name).delete());
                NAMESPACES
                        .keySet()
                        .forEach(name -> RealCluster.tool(
                                "kubectl",
                                "wait",
                                "--for=delete",
                                "namespace/" + name,
                                "--timeout=" + LIMIT.toSeconds() + "s"));
                engine.close();
            }
        } finally {
            cluster.close();
        }
    }

    @Test
    void componentLetsThroughWhatTheProgramsNeedAndNothingElse() {
        // Given: without the component each connection is open
        assertThat(open(ALLOWED)).containsExactlyInAnyOrderElementsOf(ALLOWED);
        assertThat(open(DENIED)).containsExactlyInAnyOrderElementsOf(DENIED);

        // When
        RealCluster.tool(
                "kubectl", "apply", "-f", COMPONENT.resolve("services.yaml").toString());
        RealCluster.tool(
                "kubectl", "apply", "-f", COMPONENT.resolve("node-daemon.yaml").toString());

        // Then
        await().atMost(LIMIT).untilAsserted(() -> assertThat(open(DENIED)).isEmpty());
        assertThat(open(ALLOWED)).containsExactlyInAnyOrderElementsOf(ALLOWED);

        // And, as the README of the component says, once the address of the API server is named
        RealCluster.tool(
                "kubectl",
                "-n",
                "gpufleet-system",
                "patch",
                "networkpolicy",
                "webhook",
                "--type=json",
                "-p",
                """
                [{"op": "replace", "path": "/spec/ingress/0/from/0/ipBlock/cidr", "value": "%s/32"}]
                """.formatted(addressOfTheNode()));
        List<Connection> ofTenant = ALLOWED.subList(ALLOWED.size() - 1, ALLOWED.size());
        await().atMost(LIMIT).untilAsserted(() -> assertThat(open(ofTenant)).isEmpty());
        assertThat(opensFromTheNode("gpufleet-system/allocation-service", 8443)).isTrue();
    }

    /** Those of the connections that can be opened, tried by the pods of all sources side by side. */
    private static List<Connection> open(List<Connection> connections) {
        return connections.stream().collect(Collectors.groupingBy(Connection::from)).values().parallelStream()
                .flatMap(NetworkPoliciesClusterIT::openFromOnePod)
                .toList();
    }

    private static Stream<Connection> openFromOnePod(List<Connection> connections) {
        String from = connections.getFirst().from();
        String attempts = connections.stream()
                .map(connection -> "nc -w 3 %s %d </dev/null >/dev/null 2>&1; echo $?"
                        .formatted(address(connection.to()), connection.port()))
                .collect(Collectors.joining("; "));
        List<String> statuses = RealCluster.tool(
                        "kubectl", "-n", namespace(from), "exec", name(from), "--", "sh", "-c", attempts)
                .lines()
                .toList();
        assertThat(statuses).hasSameSizeAs(connections);
        return Stream.iterate(0, index -> index < connections.size(), index -> index + 1)
                .filter(index -> statuses.get(index).equals("0"))
                .map(connections::get);
    }

    private static boolean opensFromTheNode(String pod, int port) {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(address(pod), port), 3_000);
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    private static String addressOfTheNode() {
        return cluster.node().getStatus().getAddresses().getFirst().getAddress();
    }

    private static String address(String pod) {
        return cluster.client()
                .pods()
                .inNamespace(namespace(pod))
                .withName(name(pod))
                .get()
                .getStatus()
                .getPodIP();
    }

    private static String namespace(String pod) {
        return pod.substring(0, pod.indexOf('/'));
    }

    private static String name(String pod) {
        return pod.substring(pod.indexOf('/') + 1);
    }

    private record Connection(String from, String to, int port) {
        static List<Connection> list(String lines) {
            return lines.lines()
                    .map(line -> line.split(" +"))
                    .map(parts -> new Connection(parts[0], parts[1], Integer.parseInt(parts[2])))
                    .toList();
        }
    }
}
