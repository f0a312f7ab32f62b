package io.gpufleet.cli.rights;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The API server's answer for each verb and resource: what a service and the Job of the purge may do, and nothing else. */
class RightsClusterIT {
    private static final List<String> SERVICES = List.of("inventory-service", "health-service", "allocation-service");
    private static final List<String> VERBS = List.of("get", "list", "watch", "create", "update", "patch", "delete");
    /** Group, resource, and the name that a rule may be limited to. */
    private static final List<String> RESOURCES = List.of(
            "/nodes",
            "/nodes/status",
            "/pods",
            "/pods/eviction",
            "/pods/exec",
            "/events",
            "/secrets",
            "/secrets gpufleet-webhook",
            "/secrets gpufleet-ca",
            "/configmaps",
            "/configmaps gpufleet-ca",
            "/namespaces",
            "/resourcequotas",
            "apps/statefulsets",
            "coordination.k8s.io/leases",
            "coordination.k8s.io/leases gpufleet-quota-leader",
            "discovery.k8s.io/endpointslices",
            "resource.k8s.io/resourceclaims",
            "gpufleet.io/gpuquotas",
            "gpufleet.io/gpuquotas/status",
            "gpufleet.io/gpuremediations",
            "gpufleet.io/gpuremediations/status",
            "authentication.k8s.io/tokenreviews",
            "authorization.k8s.io/subjectaccessreviews",
            "rbac.authorization.k8s.io/clusterroles",
            "admissionregistration.k8s.io/validatingwebhookconfigurations",
            "admissionregistration.k8s.io/validatingwebhookconfigurations gpufleet-quota");

    private static final String PURGE = "gpufleet-purge";

    private static RealCluster cluster;

    @BeforeAll
    static void apply() {
        cluster = RealCluster.open();
        Kubectl.run("create", "namespace", Installation.SERVICES);
        SERVICES.forEach(service -> Kubectl.run("-n", Installation.SERVICES, "apply", "-f", file(service)));
        Kubectl.run("-n", PURGE, "apply", "-f", purge());
    }

    @AfterAll
    static void remove() {
        SERVICES.forEach(service -> Kubectl.run("-n", Installation.SERVICES, "delete", "-f", file(service)));
        Kubectl.run("-n", PURGE, "delete", "-f", purge());
        Kubectl.run("delete", "namespace", Installation.SERVICES, "--wait=true", "--timeout=60s");
        cluster.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        inventory-service  | list watch patch                       | /nodes
        inventory-service  | create                                 | /events
        inventory-service  | create                                 | authentication.k8s.io/tokenreviews
        inventory-service  | create                                 | authorization.k8s.io/subjectaccessreviews
        inventory-service  | create                                 | /secrets
        inventory-service  | get create                             | /secrets gpufleet-ca
        inventory-service  | create                                 | /configmaps
        inventory-service  | get create update                      | /configmaps gpufleet-ca
        health-service     | get list watch patch                   | /nodes
        health-service     | patch                                  | /nodes/status
        health-service     | get create patch                       | /events
        health-service     | create                                 | authentication.k8s.io/tokenreviews
        health-service     | create                                 | authorization.k8s.io/subjectaccessreviews
        health-service     | create                                 | /secrets
        health-service     | get create                             | /secrets gpufleet-ca
        health-service     | create                                 | /configmaps
        health-service     | get create update                      | /configmaps gpufleet-ca
        allocation-service | list watch                             | /nodes
        allocation-service | list watch                             | /pods
        allocation-service | list watch patch                       | /namespaces
        allocation-service | list watch                             | resource.k8s.io/resourceclaims
        allocation-service | list                                   | /resourcequotas
        allocation-service | get list                               | gpufleet.io/gpuquotas
        allocation-service | update                                 | gpufleet.io/gpuquotas/status
        allocation-service | create                                 | /secrets
        allocation-service | get create update                      | /secrets gpufleet-webhook
        allocation-service | get create                             | /secrets gpufleet-ca
        allocation-service | create                                 | /configmaps
        allocation-service | get create update                      | /configmaps gpufleet-ca
        allocation-service | create                                 | coordination.k8s.io/leases
        allocation-service | get create update                      | coordination.k8s.io/leases gpufleet-quota-leader
        allocation-service | create                                 | authentication.k8s.io/tokenreviews
        allocation-service | create                                 | authorization.k8s.io/subjectaccessreviews
        allocation-service | list                                   | discovery.k8s.io/endpointslices
        allocation-service | get update                             | admissionregistration.k8s.io/validatingwebhookconfigurations gpufleet-quota
        purge              | get list patch                         | /nodes
        purge              | patch                                  | /nodes/status
        purge              | list patch                             | /namespaces
        purge              | list watch patch                       | apps/statefulsets
        purge              | delete                                 | admissionregistration.k8s.io/validatingwebhookconfigurations gpufleet-quota
        """)
    void serviceMay(String service, String verbs, String resource) {
        assertThat(allowed(service, resource)).isEqualTo(new TreeSet<>(List.of(verbs.split(" "))));
    }

    @ParameterizedTest
    @CsvSource({"inventory-service, 14", "health-service, 18", "allocation-service, 32", "purge, 10"})
    void serviceMayDoNothingElse(String service, int rights) {
        assertThat(RESOURCES.stream()
                        .mapToInt(resource -> allowed(service, resource).size())
                        .sum())
                .isEqualTo(rights);
    }

    private static TreeSet<String> allowed(String service, String resource) {
        var allowed = new TreeSet<String>();
        VERBS.stream().filter(verb -> allows(service, verb, resource)).forEach(allowed::add);
        return allowed;
    }

    private static boolean allows(String service, String verb, String resource) {
        String[] words = resource.split(" ");
        String[] path = words[0].split("/");
        var attributes = new ResourceAttributesBuilder()
                .withNamespace(Installation.SERVICES)
                .withGroup(path[0])
                .withResource(path[1])
                .withSubresource(path.length > 2 ? path[2] : "")
                .withName(Stream.of(words).skip(1).findFirst().orElse(""))
                .withVerb(verb)
                .build();
        return AccessReviews.allows(
                cluster.client(),
                "system:serviceaccount:" + (service.equals("purge") ? PURGE : Installation.SERVICES) + ":" + service,
                attributes);
    }

    private static String purge() {
        return Repository.module("k8s/purge/rbac.yaml").toString();
    }

    private static String file(String service) {
        return Repository.module("k8s/base/services/" + service + "/rbac.yaml").toString();
    }
}
