package io.gpufleet.cli.rights;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The API server's answers to what the services ask it about callers, for the roles that the manifests bring. */
class AccessRolesClusterIT {
    private static final String NAMESPACE = "access-roles";
    private static final String OTHER_NAMESPACE = "default";
    private static final List<String> ROLES = List.of("gpufleet-viewer", "gpufleet-accounting", "gpufleet-operator");
    private static final List<String> VERBS = List.of(
            "get",
            "list",
            "watch",
            "create",
            "quarantine",
            "release",
            "forget",
            "begin-maintenance",
            "end-maintenance",
            "retire",
            "clear",
            "reset",
            "freeze",
            "unfreeze");

    private static RealCluster cluster;

    @BeforeAll
    static void bindEachRoleToAUser() {
        cluster = RealCluster.open();
        Kubectl.run("create", "namespace", NAMESPACE);
        Kubectl.run("apply", "-f", file());
        ROLES.forEach(role ->
                Kubectl.run("create", "clusterrolebinding", "test-" + role, "--clusterrole=" + role, "--user=" + role));
        Kubectl.run(
                "-n", NAMESPACE, "create", "rolebinding", "team", "--clusterrole=gpufleet-accounting", "--user=team");
    }

    @AfterAll
    static void remove() {
        ROLES.forEach(role -> Kubectl.run("delete", "clusterrolebinding", "test-" + role));
        Kubectl.run("delete", "-f", file());
        Kubectl.run("delete", "namespace", NAMESPACE, "--wait=true", "--timeout=60s");
        cluster.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        gpufleet-viewer     | get list                                                                  | nodes
        gpufleet-viewer     | get list                                                                  | devices
        gpufleet-viewer     | get list watch                                                            | gpuquotas
        gpufleet-viewer     | get list watch                                                            | gpuremediations
        gpufleet-viewer     |                                                                           | holdings
        gpufleet-viewer     |                                                                           | usage
        gpufleet-viewer     |                                                                           | fleets
        gpufleet-accounting | list                                                                      | holdings
        gpufleet-accounting | list                                                                      | usage
        gpufleet-accounting |                                                                           | nodes
        gpufleet-operator   | get list quarantine release forget begin-maintenance end-maintenance      | nodes
        gpufleet-operator   | get list quarantine release retire clear                                  | devices
        gpufleet-operator   | reset                                                                     | brakes
        gpufleet-operator   | freeze unfreeze                                                           | fleets
        gpufleet-operator   |                                                                           | holdings
        """)
    void roleMay(String role, String verbs, String resource) {
        assertThat(allowed(role, resource, ""))
                .isEqualTo(verbs == null ? new TreeSet<>() : new TreeSet<>(List.of(verbs.split(" "))));
    }

    @ParameterizedTest
    @CsvSource({NAMESPACE + ", true", OTHER_NAMESPACE + ", false", "'', false"})
    void teamSeesTheHoldingsOfItsOwnNamespace(String namespace, boolean seen) {
        assertThat(allows("team", "list", "holdings", namespace)).isEqualTo(seen);
    }

    private static TreeSet<String> allowed(String user, String resource, String namespace) {
        var allowed = new TreeSet<String>();
        VERBS.stream().filter(verb -> allows(user, verb, resource, namespace)).forEach(allowed::add);
        return allowed;
    }

    private static boolean allows(String user, String verb, String resource, String namespace) {
        var attributes = new ResourceAttributesBuilder()
                .withGroup("gpufleet.io")
                .withResource(resource)
                .withNamespace(namespace)
                .withVerb(verb)
                .build();
        return AccessReviews.allows(cluster.client(), user, attributes);
    }

    private static String file() {
        return Repository.module("k8s/base/services/access/roles.yaml").toString();
    }
}
