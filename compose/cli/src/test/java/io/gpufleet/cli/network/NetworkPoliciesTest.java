package io.gpufleet.cli.network;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each connection that the programs need is allowed by the component network-policies, for the labels that their pods have,
 * and others are not.
 */
class NetworkPoliciesTest {
    private static final String SERVICES = "gpufleet-system";
    private static final String NODES = "gpufleet-node";
    private static final String API_SERVER = "192.0.2.10";

    private final Map<String, PolicyModel.End> ends = ends();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        API server             | allocation-service | 8443 | TCP
        prometheus             | inventory-service  | 8080 | TCP
        prometheus             | health-service     | 8080 | TCP
        prometheus             | allocation-service | 8080 | TCP
        prometheus             | node-daemon        | 9400 | TCP
        allocation-service     | allocation-service | 9090 | TCP
        reader                 | inventory-service  | 8080 | TCP
        reader                 | inventory-service  | 9090 | TCP
        inventory-service      | API server         | 443  | TCP
        inventory-service      | API server         | 6443 | TCP
        health-service         | API server         | 6443 | TCP
        allocation-service     | API server         | 6443 | TCP
        inventory-service      | kafka              | 9092 | TCP
        health-service         | kafka              | 9093 | TCP
        allocation-service     | kafka              | 9094 | TCP
        topics                 | kafka              | 9095 | TCP
        node-daemon            | kafka              | 9092 | TCP
        node-daemon            | kafka              | 9095 | TCP
        inventory-service      | dns                | 53   | UDP
        topics                 | dns                | 53   | TCP
        node-daemon            | dns                | 53   | UDP
        """)
    void neededConnectionIsAllowed(String from, String to, int port, String protocol) {
        assertThat(allows(policies(), from, to, port, protocol)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        tenant                 | inventory-service  | 8080 | TCP
        tenant                 | inventory-service  | 9090 | TCP
        tenant                 | health-service     | 8080 | TCP
        tenant                 | allocation-service | 9090 | TCP
        tenant                 | node-daemon        | 9400 | TCP
        reader                 | node-daemon        | 9400 | TCP
        reader                 | health-service     | 8443 | TCP
        prometheus             | allocation-service | 9090 | TCP
        prometheus             | inventory-service  | 8443 | TCP
        node-daemon            | API server         | 6443 | TCP
        node-daemon            | allocation-service | 8080 | TCP
        node-daemon            | tenant             | 80   | TCP
        inventory-service      | tenant             | 80   | TCP
        health-service         | node-daemon        | 9400 | TCP
        topics                 | tenant             | 8080 | TCP
        inventory-service      | dns                | 53   | SCTP
        API server             | health-service     | 8443 | TCP
        API server             | allocation-service | 9090 | TCP
        """)
    void otherConnectionIsDenied(String from, String to, int port, String protocol) {
        assertThat(allows(policies(), from, to, port, protocol)).isFalse();
    }

    @Test
    void webhookIsOpenToEveryPodUntilTheAddressesOfTheApiServersAreNamed() {
        assertThat(allows(policies(), "tenant", "allocation-service", 8443, "TCP"))
                .isTrue();

        List<NetworkPolicy> named = policies();
        named.stream()
                .filter(policy -> policy.getMetadata().getName().equals("webhook"))
                .map(policy ->
                        policy.getSpec().getIngress().getFirst().getFrom().getFirst())
                .forEach(peer -> peer.getIpBlock().setCidr(API_SERVER + "/32"));
        assertThat(allows(named, "tenant", "allocation-service", 8443, "TCP")).isFalse();
        assertThat(allows(named, "API server", "allocation-service", 8443, "TCP"))
                .isTrue();
        assertThat(allows(named, "another machine", "allocation-service", 8443, "TCP"))
                .isFalse();
    }

    /** Tokens of OAUTHBEARER come from there. */
    @Test
    void daemonsReachAnIdentityProviderByThePatchOfThePage() throws IOException {
        String page = Files.readString(Repository.module("k8s/components/network-policies/README.md"));
        String rule = page.lines()
                .filter(line -> line.contains("path: /spec/egress/-"))
                .map(line -> line.replaceAll(".*(value: .*)}$", "$1"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the page has no such patch"));
        assertThat(allows(policies(), "node-daemon", "identity provider", 443, "TCP"))
                .isFalse();

        JsonNode value =
                new KubernetesSerialization().unmarshal(rule, JsonNode.class).path("value");
        List<NetworkPolicy> patched = policies();
        patched.stream()
                .filter(policy -> policy.getMetadata().getName().equals("node-daemon"))
                .forEach(policy -> policy.getSpec()
                        .getEgress()
                        .add(new ObjectMapper().convertValue(value, NetworkPolicyEgressRule.class)));
        assertThat(allows(patched, "node-daemon", "identity provider", 443, "TCP"))
                .isTrue();
        assertThat(allows(patched, "node-daemon", "API server", 443, "TCP")).isFalse();
        assertThat(allows(policies(), "health-service", "identity provider", 443, "TCP"))
                .isTrue();
    }

    @Test
    void withoutTheComponentEverythingIsAllowed() {
        assertThat(allows(List.of(), "tenant", "inventory-service", 8080, "TCP"))
                .isTrue();
    }

    private boolean allows(List<NetworkPolicy> policies, String from, String to, int port, String protocol) {
        return new PolicyModel(policies).allows(end(from), end(to), new PolicyModel.Port(port, protocol));
    }

    private PolicyModel.End end(String name) {
        return Objects.requireNonNull(ends.get(name), name);
    }

    private static Map<String, PolicyModel.End> ends() {
        var ends = new HashMap<String, PolicyModel.End>();
        objects(Repository.module("k8s/base")).forEach(object -> {
            switch (object) {
                case StatefulSet set ->
                    ends.put(name(set), pod(SERVICES, set.getSpec().getTemplate()));
                case Job job -> ends.put(name(job), pod(SERVICES, job.getSpec().getTemplate()));
                case DaemonSet set ->
                    ends.put(name(set), pod(NODES, set.getSpec().getTemplate()));
                default -> {}
            }
        });
        ends.put("API server", new PolicyModel.Address(API_SERVER));
        ends.put("identity provider", new PolicyModel.Address("192.0.2.20"));
        ends.put("another machine", new PolicyModel.Address("192.0.2.11"));
        ends.put("prometheus", pod("monitoring", Map.of(), Map.of("app.kubernetes.io/name", "prometheus")));
        ends.put("reader", pod("sre", Map.of("gpufleet.io/reads", "allowed"), Map.of()));
        ends.put("tenant", pod("team-a", Map.of(), Map.of("app.kubernetes.io/name", "allocation-service")));
        ends.put("kafka", pod("kafka", Map.of(), Map.of()));
        ends.put("dns", pod("kube-system", Map.of(), Map.of("k8s-app", "kube-dns")));
        return ends;
    }

    private static String name(HasMetadata object) {
        return object.getMetadata().getName();
    }

    private static PolicyModel.Pod pod(String namespace, PodTemplateSpec template) {
        return pod(namespace, Map.of(), template.getMetadata().getLabels());
    }

    /** The API server labels each namespace with its name. */
    private static PolicyModel.Pod pod(String namespace, Map<String, String> more, Map<String, String> labels) {
        var namespaceLabels = new HashMap<>(more);
        namespaceLabels.put("kubernetes.io/metadata.name", namespace);
        return new PolicyModel.Pod(namespace, namespaceLabels, labels);
    }

    private static List<NetworkPolicy> policies() {
        return objects(Repository.module("k8s/components/network-policies"))
                .filter(NetworkPolicy.class::isInstance)
                .map(NetworkPolicy.class::cast)
                .toList();
    }

    private static Stream<HasMetadata> objects(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files
                    .filter(file -> file.toString().endsWith(".yaml"))
                    .filter(file -> !file.endsWith("kustomization.yaml"))
                    .toList()
                    .stream()
                    .flatMap(NetworkPoliciesTest::read);
        } catch (IOException failed) {
            throw new AssertionError(directory + " cannot be read", failed);
        }
    }

    private static Stream<HasMetadata> read(Path file) {
        try (var in = Files.newInputStream(file)) {
            Object parsed = new KubernetesSerialization().unmarshal(in);
            var objects = new ArrayList<HasMetadata>();
            for (Object each : parsed instanceof Collection<?> several ? several : List.of(parsed)) {
                if (each instanceof HasMetadata object) {
                    objects.add(object);
                }
            }
            return objects.stream();
        } catch (IOException failed) {
            throw new AssertionError(file + " cannot be read", failed);
        }
    }
}
