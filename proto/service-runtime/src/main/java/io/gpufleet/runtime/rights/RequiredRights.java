package io.gpufleet.runtime.rights;

import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTransactionsOptions;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;

/**
 * Rights that a service needs for its projection and its sender, and which of them the broker refuses. READ and WRITE of a topic include DESCRIBE.
 *
 * @param service name of the service, which is its principal
 * @param group its group and transactional id
 * @param topics operations by full name of the topic
 */
public record RequiredRights(String service, String group, Map<String, Set<AclOperation>> topics) {
    /** A broker that answers other questions meanwhile must not be kept from them for long. */
    private static final int TIMEOUT_MILLIS = 3_000;

    /** Keeps a copy. */
    public RequiredRights {
        topics = Map.copyOf(topics);
    }

    /** The rights of a projection with these inputs and outputs, and to further topics beside it. */
    public static RequiredRights of(
            String service, String group, Topics topics, ProjectionSpec spec, FurtherTopics further) {
        var needed = new TreeMap<String, Set<AclOperation>>();
        spec.read().forEach(topic -> add(needed, topics.name(topic), AclOperation.READ));
        spec.outputs().forEach(topic -> add(needed, topics.name(topic), AclOperation.WRITE));
        further.sent().forEach(topic -> add(needed, topics.name(topic), AclOperation.WRITE));
        further.followed().forEach(topic -> add(needed, topics.name(topic), AclOperation.READ));
        add(needed, topics.name(spec.changelog()), AclOperation.READ);
        add(needed, topics.name(spec.changelog()), AclOperation.WRITE);
        add(needed, topics.name(Topic.ELECTION), AclOperation.READ);
        add(needed, topics.name(Topic.DEADLETTER), AclOperation.WRITE);
        return new RequiredRights(service, group, needed);
    }

    /** The right of a service to a topic that it reads beside its projection, in no group. */
    public static RequiredRights toRead(String service, String topic) {
        return new RequiredRights(service, "", Map.of(topic, EnumSet.of(AclOperation.READ)));
    }

    private static void add(Map<String, Set<AclOperation>> needed, String topic, AclOperation operation) {
        needed.computeIfAbsent(topic, _ -> EnumSet.noneOf(AclOperation.class)).add(operation);
    }

    /** Rights that the broker would refuse, a line for each; blocks. A broker that does not answer refuses nothing. */
    public List<String> missing(Admin admin) throws InterruptedException {
        var groups = admin.describeConsumerGroups(
                        List.of(group), new DescribeConsumerGroupsOptions().timeoutMs(TIMEOUT_MILLIS))
                .describedGroups();
        var transactions =
                admin.describeTransactions(List.of(group), new DescribeTransactionsOptions().timeoutMs(TIMEOUT_MILLIS));
        List<String> lines = new ArrayList<>(missingTopics(admin));
        refusedIn(Objects.requireNonNull(groups.get(group))).ifPresent(lines::add);
        refusedIn(transactions.description(group)).ifPresent(lines::add);
        return List.copyOf(lines);
    }

    private Optional<String> refusedIn(KafkaFuture<?> answer) throws InterruptedException {
        try {
            var _ = answer.get();
            return Optional.empty();
        } catch (ExecutionException failed) {
            return refused(failed);
        }
    }

    private List<String> missingTopics(Admin admin) throws InterruptedException {
        var answers = admin.describeTopics(
                        topics.keySet(),
                        new DescribeTopicsOptions()
                                .includeAuthorizedOperations(true)
                                .timeoutMs(TIMEOUT_MILLIS))
                .topicNameValues();
        List<String> lines = new ArrayList<>();
        for (var answer : new TreeMap<>(answers).entrySet()) {
            String topic = answer.getKey();
            Set<AclOperation> needed = topics.getOrDefault(topic, Set.of());
            try {
                Set<AclOperation> allowed = answer.getValue().get().authorizedOperations();
                needed.stream()
                        .filter(operation -> allowed != null && !allowed.contains(operation))
                        .sorted()
                        .forEach(operation -> lines.add(line("topic " + topic, operation.name())));
            } catch (ExecutionException failed) {
                if (failed.getCause() instanceof TopicAuthorizationException) {
                    lines.add(line("topic " + topic, names(needed)));
                }
            }
        }
        return lines;
    }

    /** The right that the broker refused, in one line; empty when it is something else that failed. */
    public Optional<String> refused(Throwable failed) {
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case TopicAuthorizationException topic
                when !topic.unauthorizedTopics().isEmpty() -> {
                    return Optional.of(topic.unauthorizedTopics().stream()
                            .sorted()
                            .map(name -> line("topic " + name, names(topics.getOrDefault(name, Set.of()))))
                            .collect(Collectors.joining("; ")));
                }
                // An admin client names no topic: it is the one that was asked for.
                case TopicAuthorizationException _
                when topics.size() == 1 -> {
                    return topics.entrySet().stream()
                            .map(topic -> line("topic " + topic.getKey(), names(topic.getValue())))
                            .findFirst();
                }
                case GroupAuthorizationException _ -> {
                    return Optional.of(line("group " + group, AclOperation.READ.name()));
                }
                case TransactionalIdAuthorizationException _ -> {
                    return Optional.of(line("transactional id " + group, AclOperation.WRITE.name()));
                }
                default -> {}
            }
        }
        return Optional.empty();
    }

    private static String names(Set<AclOperation> operations) {
        return operations.isEmpty()
                ? AclOperation.DESCRIBE.name()
                : operations.stream()
                        .sorted(Comparator.naturalOrder())
                        .map(AclOperation::name)
                        .collect(Collectors.joining(" and "));
    }

    private String line(String resource, String operations) {
        return "Kafka refuses " + resource + ": grant " + operations + " on it to the principal of " + service
                + " (proto/TOPICS.md, Rights)";
    }
}
