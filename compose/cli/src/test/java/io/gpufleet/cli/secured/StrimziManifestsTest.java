package io.gpufleet.cli.secured;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.local.BrokerRights;
import io.gpufleet.cli.local.BrokerRights.Right;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.acl.AclOperation;
import org.junit.jupiter.api.Test;

/** The topics and users of k8s/kafka are those of the catalogue and of TOPICS.md; it can write them. */
class StrimziManifestsTest {
    private static final Path COMPONENT = Repository.module("k8s/kafka");
    private static final String ORIGIN =
            "# Made by StrimziManifestsTest from %s; write it again with -Dstrimzi.write=true.\n";

    @Test
    void topicsAreThoseOfTheCatalogue() throws IOException {
        var topics = new Topics(Topics.DEFAULT_PREFIX);
        var yaml = new StringBuilder(ORIGIN.formatted("the catalogue of topics"));
        for (Topic topic : Topic.values()) {
            yaml.append(topic.ordinal() == 0 ? "" : "---\n")
                    .append("""
                apiVersion: kafka.strimzi.io/v1
                kind: KafkaTopic
                metadata:
                  name: %s
                  namespace: kafka
                  labels: {strimzi.io/cluster: gpufleet, app.kubernetes.io/part-of: gpufleet}
                spec:
                  partitions: %d
                  replicas: 3
                  config:
                    min.insync.replicas: "2"
                """.formatted(topics.name(topic), topic.partitions()));
            new TreeMap<>(topic.brokerSettings())
                    .forEach((key, value) -> yaml.append("    %s: \"%s\"%n".formatted(key, value)));
        }

        assertWritten("topics.yaml", yaml.toString());
    }

    @Test
    void usersHaveTheRightsOfTheDocument() throws IOException {
        Map<String, List<Right>> byPrincipal = BrokerRights.ofTheDocument().rights().stream()
                .collect(Collectors.groupingBy(Right::principal, LinkedHashMap::new, Collectors.toList()));
        var users = new ArrayList<String>();
        byPrincipal.forEach((principal, rights) -> users.add(user(principal, rights)));

        assertWritten("users.yaml", ORIGIN.formatted("the table of rights in TOPICS.md") + String.join("---\n", users));
    }

    private static String user(String principal, List<Right> rights) {
        var yaml = new StringBuilder("""
                apiVersion: kafka.strimzi.io/v1
                kind: KafkaUser
                metadata:
                  name: %s
                  namespace: kafka
                  labels: {strimzi.io/cluster: gpufleet, app.kubernetes.io/part-of: gpufleet}
                spec:
                  authentication: {type: scram-sha-512}
                  authorization:
                    type: simple
                    acls:
                """.formatted(principal));
        var operations = new LinkedHashMap<String, List<String>>();
        for (Right right : rights) {
            operations.computeIfAbsent(resource(right), _ -> new ArrayList<>()).add(operation(right.operation()));
        }
        operations.forEach((resource, names) ->
                yaml.append("      - resource: %s%n        operations: %s%n".formatted(resource, names)));
        return yaml.toString();
    }

    private static String resource(Right right) {
        String type = right.resource().equals("transactional id")
                ? "transactionalId"
                : right.resource().split(" ")[0];
        String pattern = right.resource().endsWith("prefix") ? "prefix" : "literal";
        return "{type: %s, name: %s, patternType: %s}".formatted(type, right.name(), pattern);
    }

    private static String operation(AclOperation operation) {
        return switch (operation) {
            case READ -> "Read";
            case WRITE -> "Write";
            case CREATE -> "Create";
            case DESCRIBE -> "Describe";
            case DESCRIBE_CONFIGS -> "DescribeConfigs";
            default -> throw new AssertionError(operation + " has no name of Strimzi here yet");
        };
    }

    private static void assertWritten(String name, String expected) throws IOException {
        Path file = COMPONENT.resolve(name);
        if (Boolean.getBoolean("strimzi.write")) {
            Files.writeString(file, expected);
        }
        assertThat(Files.readString(file)).isEqualTo(expected);
    }
}
