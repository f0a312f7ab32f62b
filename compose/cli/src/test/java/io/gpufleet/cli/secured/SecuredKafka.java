package io.gpufleet.cli.secured;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.PageCommands;
import io.gpufleet.cli.local.BrokerRights;
import io.gpufleet.cli.local.BrokerRights.Right;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A broker that asks for TLS and SCRAM and allows the rights of TOPICS.md, at the address that overlays/production has, and
 * the Secrets with which the programs of an installation come to it.
 */
final class SecuredKafka implements AutoCloseable {
    private static final String PAGE = "k8s/components/kafka-client/README.md";
    private static final Pattern ROW = Pattern.compile("\n\\| (`kafka-client-.*`) \\| `(.*)` \\|");
    private static final Pattern SECRET = Pattern.compile("`kafka-client-([a-z-]+)`");
    private static final String NAMESPACE = "kafka";
    private static final String SERVICE = "gpufleet-kafka-bootstrap";
    /** One that the component network-policies lets through. */
    private static final int PORT = 9093;

    private final BrokerProcess broker;
    private final BrokerRights rights;

    private SecuredKafka(BrokerProcess broker, BrokerRights rights) {
        this.broker = broker;
        this.rights = rights;
    }

    /** Starts the broker on the node's address, and makes a Service that leads to it. */
    static SecuredKafka start(RealCluster cluster, Path directory) throws Exception {
        String address = Installation.nodeAddress(cluster);
        BrokerProcess broker =
                BrokerProcess.startSecuredOn(directory.resolve("kafka"), address, PORT, SERVICE + "." + NAMESPACE);
        BrokerRights rights = BrokerRights.ofTheDocument();
        rights.grant(broker);
        Kubectl.run("create", "namespace", NAMESPACE);
        cluster.client()
                .load(new ByteArrayInputStream(
                        """
                apiVersion: v1
                kind: Service
                metadata: {name: %1$s, namespace: %2$s}
                spec:
                  ports: [{name: clients, port: %3$d}]
                ---
                apiVersion: discovery.k8s.io/v1
                kind: EndpointSlice
                metadata: {name: %1$s, namespace: %2$s, labels: {kubernetes.io/service-name: %1$s}}
                addressType: IPv4
                ports: [{name: clients, port: %3$d}]
                endpoints: [{addresses: [%4$s]}]
                """.formatted(SERVICE, NAMESPACE, PORT, address).getBytes(StandardCharsets.UTF_8)))
                .create();
        return new SecuredKafka(broker, rights);
    }

    /** Makes the namespaces and the Secrets by the table, the properties and the commands of the component's page. */
    void createSecrets(Path directory) throws IOException {
        List<List<String>> commands = PageCommands.kubectl(PAGE, "kubectl create namespace");
        principals().values().stream()
                .distinct()
                .forEach(namespace -> run(commands.getFirst(), Map.of(Installation.SERVICES, namespace)));
        for (var principal : principals().entrySet()) {
            Path files = Files.createDirectories(directory.resolve(principal.getKey()));
            Path properties = Files.writeString(files.resolve("client.properties"), properties(principal.getKey()));
            Path certificate = Files.writeString(files.resolve("ca.crt"), broker.certificate());
            run(
                    commands.getLast(),
                    Map.of(
                            Installation.SERVICES,
                            principal.getValue(),
                            "kafka-client-health-service",
                            "kafka-client-" + principal.getKey(),
                            "--from-file=client.properties",
                            "--from-file=" + properties,
                            "--from-file=ca.crt",
                            "--from-file=" + certificate));
        }
    }

    /** What the programs asked for and were refused. */
    Set<String> denied() throws IOException {
        return rights.denied(broker);
    }

    /** Takes one right away. */
    void revoke(Right right) throws Exception {
        rights.revoke(broker, right);
    }

    /** Gives it back. */
    void grantAgain(Right right) throws Exception {
        rights.grantAgain(broker, right);
    }

    /** Namespaces by principal. */
    private static Map<String, String> principals() {
        var principals = new TreeMap<String, String>();
        ROW.matcher(PageCommands.text(PAGE))
                .results()
                .forEach(row -> SECRET.matcher(row.group(1))
                        .results()
                        .forEach(secret -> principals.put(secret.group(1), row.group(2))));
        return principals;
    }

    private static String properties(String principal) {
        return PageCommands.block(PAGE, "sasl.mechanism=SCRAM-SHA-512")
                        .replace("username=\"health-service\"", "username=\"" + principal + "\"")
                        .replace("password=\"...\"", "password=\"" + BrokerRights.PASSWORD + "\"")
                + "\n";
    }

    private static void run(List<String> command, Map<String, String> replacements) {
        Kubectl.run(command.stream()
                .map(argument -> replacements.getOrDefault(argument, argument))
                .toArray(String[]::new));
    }

    @Override
    public void close() {
        Kubectl.run("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=false");
        broker.close();
    }
}
