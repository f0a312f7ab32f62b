package io.gpufleet.cli.secured;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The script of the component strimzi: from the Secrets of Strimzi's users to those of the component kafka-client. */
class ClientSecretsClusterIT {
    private static final String KAFKA = "kafka";
    private static final List<String> NAMESPACES = List.of(KAFKA, Installation.SERVICES, Installation.NODES);
    private static final List<String> SERVICES = List.of("inventory-service", "health-service", "allocation-service");

    @BeforeAll
    static void secretsOfTheOperator() {
        NAMESPACES.forEach(namespace -> Kubectl.run("create", "namespace", namespace));
        Kubectl.run(
                "-n",
                KAFKA,
                "create",
                "secret",
                "generic",
                "gpufleet-cluster-ca-cert",
                "--from-literal=ca.crt=AUTHORITY");
        SERVICES.forEach(ClientSecretsClusterIT::user);
        user("node-daemon");
    }

    private static void user(String name) {
        Kubectl.run(
                "-n",
                KAFKA,
                "create",
                "secret",
                "generic",
                name,
                "--from-literal=password=of-" + name,
                "--from-literal=sasl.jaas.config=login username=\"" + name + "\" password=\"of-" + name + "\";");
    }

    @AfterAll
    static void remove() {
        NAMESPACES.forEach(namespace -> Kubectl.run("delete", "namespace", namespace, "--wait=true", "--timeout=60s"));
    }

    @Test
    void everyProgramGetsItsOwnSecretAlsoAgain() throws Exception {
        run();
        run();

        SERVICES.forEach(service -> assertClient(service, Installation.SERVICES));
        assertClient("node-daemon", Installation.NODES);
    }

    private static void run() throws IOException, InterruptedException {
        var script = new ProcessBuilder(Repository.module("k8s/components/strimzi/client-secrets.sh")
                        .toString())
                .redirectErrorStream(true);
        script.environment().put("KUBECTL", RealCluster.executable() + " kubectl");
        Process process = script.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    private static void assertClient(String user, String namespace) {
        assertThat(file(user, namespace, "ca\\.crt")).isEqualTo("AUTHORITY");
        assertThat(file(user, namespace, "client\\.properties"))
                .contains("security.protocol=SASL_SSL")
                .contains("username=\"" + user + "\" password=\"of-" + user + "\";");
    }

    private static String file(String user, String namespace, String key) {
        String encoded = Kubectl.run(
                "-n", namespace, "get", "secret", "kafka-client-" + user, "-o", "jsonpath={.data." + key + "}");
        return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    }
}
