package io.gpufleet.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Creates the topics of the catalogue and compares existing topics with it. Every method blocks, for at most about 10
 * s.
 */
public final class TopicAdmin {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final Duration VISIBILITY_POLL_INTERVAL = Duration.ofMillis(50);
    private static final int VISIBILITY_POLL_ATTEMPTS = 200;

    private final Admin admin;
    private final Topics topics;

    private TopicAdmin(Admin admin, Topics topics) {
        this.admin = admin;
        this.topics = topics;
    }

    /** {@link #apply(KafkaClients, Topics, short)} for a single broker. */
    public static List<String> apply(KafkaClients kafka, Topics topics) {
        return apply(kafka, topics, (short) 1);
    }

    /** {@link #apply(KafkaClients, Topics, short)} for a single broker without authentication. */
    public static List<String> apply(String bootstrap, Topics topics) {
        return apply(bootstrap, topics, (short) 1);
    }

    /**
     * Creates the missing topics, then checks all of them. Existing topics are not changed. With three replicas a write
     * needs two of them ({@code min.insync.replicas}), with fewer one.
     *
     * @return one line for each topic created and for each setting that differs from the catalogue
     */
    public static List<String> apply(KafkaClients kafka, Topics topics, short replicationFactor) {
        return withAdmin(kafka, topics, it -> {
            List<String> lines = new ArrayList<>(it.create(replicationFactor));
            lines.addAll(it.check());
            lines.addAll(it.differingReplication(replicationFactor));
            return lines;
        });
    }

    /**
     * Compares the topics with the catalogue; throws {@link TopicsException} when a topic is missing or has another
     * partition count.
     *
     * @return one line for each setting that differs
     */
    public static List<String> check(KafkaClients kafka, Topics topics) {
        return withAdmin(kafka, topics, TopicAdmin::check);
    }

    /** {@link #apply(KafkaClients, Topics, short)} for a broker without authentication. */
    public static List<String> apply(String bootstrap, Topics topics, short replicationFactor) {
        return apply(plain(bootstrap), topics, replicationFactor);
    }

    /** {@link #check(KafkaClients, Topics)} for a broker without authentication. */
    public static List<String> check(String bootstrap, Topics topics) {
        return check(plain(bootstrap), topics);
    }

    private static KafkaClients plain(String bootstrap) {
        try {
            return KafkaClients.plain(bootstrap);
        } catch (IllegalArgumentException malformed) {
            throw TopicsException.unusable("GPUFLEET_KAFKA: " + malformed.getMessage());
        }
    }

    private interface AdminTask {
        List<String> run(TopicAdmin admin) throws ExecutionException, InterruptedException;
    }

    private static List<String> withAdmin(KafkaClients kafka, Topics topics, AdminTask task) {
        String bootstrap = kafka.bootstrap();
        Properties settings = kafka.properties("topics");
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(TIMEOUT.toMillis()));
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(TIMEOUT.toMillis() / 2));
        try (Admin admin = kafka.admin(settings)) {
            return task.run(new TopicAdmin(admin, topics));
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof AuthorizationException) {
                throw refused(topics, "DESCRIBE and DESCRIBE_CONFIGS");
            }
            throw unreachable(bootstrap, failed.getCause() == null ? failed : failed.getCause());
        } catch (KafkaException failed) {
            throw unreachable(bootstrap, failed.getCause() == null ? failed : failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unreachable(bootstrap, interrupted);
        }
    }

    private static TopicsException unreachable(String bootstrap, Throwable cause) {
        return TopicsException.brokerUnavailable("Kafka at '" + bootstrap + "' could not list its topics ("
                + cause.getMessage() + "): check "
                + (cause instanceof AuthenticationException
                        ? "user, password and certificates in the file of GPUFLEET_KAFKA_CONFIG"
                        : "that the broker runs and that GPUFLEET_KAFKA or --kafka names it as host:port"));
    }

    private static TopicsException refused(Topics topics, String operations) {
        return TopicsException.brokerUnavailable("Kafka refuses topics '" + topics.prefix() + "*': grant " + operations
                + " on this prefix to the principal (proto/TOPICS.md, Rights)");
    }

    private List<String> create(short replicationFactor) throws ExecutionException, InterruptedException {
        Set<String> present = admin.listTopics().names().get();
        List<NewTopic> missing = Arrays.stream(Topic.values())
                .filter(topic -> !present.contains(topics.name(topic)))
                .map(topic -> new NewTopic(topics.name(topic), topic.partitions(), replicationFactor)
                        .configs(settings(topic, replicationFactor)))
                .toList();
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, KafkaFuture<Void>> creation :
                admin.createTopics(missing).values().entrySet()) {
            try {
                creation.getValue().get();
                lines.add("created topic " + creation.getKey());
            } catch (ExecutionException failed) {
                if (failed.getCause() instanceof InvalidReplicationFactorException few) {
                    throw TopicsException.unusable("topic " + creation.getKey() + " cannot be created ("
                            + few.getMessage() + "): start more brokers, or ask for fewer replicas by --replication or"
                            + " GPUFLEET_TOPIC_REPLICATION");
                }
                if (failed.getCause() instanceof AuthorizationException) {
                    throw refused(topics, "CREATE, DESCRIBE and DESCRIBE_CONFIGS");
                }
                if (!(failed.getCause() instanceof TopicExistsException)) {
                    throw failed;
                }
            }
        }
        awaitVisible(missing.stream().map(NewTopic::name).toList());
        return lines;
    }

    private static Map<String, String> settings(Topic topic, short replicationFactor) {
        var settings = new TreeMap<>(topic.brokerSettings());
        settings.put(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, Integer.toString(inSync(replicationFactor)));
        return settings;
    }

    /** All replicas but one, so that one broker can be restarted while the topics are written. */
    private static int inSync(short replicationFactor) {
        return replicationFactor < 3 ? 1 : replicationFactor - 1;
    }

    /** Fewer replicas than wanted, or fewer of them that must have a write; more of both is nobody's mistake. */
    private List<String> differingReplication(short replicationFactor) throws ExecutionException, InterruptedException {
        List<String> lines = new ArrayList<>();
        List<String> names = Arrays.stream(Topic.values()).map(topics::name).toList();
        admin.describeTopics(names).allTopicNames().get().forEach((name, description) -> {
            int replicas = description.partitions().stream()
                    .mapToInt(partition -> partition.replicas().size())
                    .min()
                    .orElse(0);
            if (replicas < replicationFactor) {
                lines.add("topic " + name + " has replication " + replicas + " instead of " + replicationFactor);
            }
        });
        var resources = names.stream()
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        admin.describeConfigs(resources).all().get().forEach((resource, config) -> {
            ConfigEntry found = config.get(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG);
            if (found != null && Integer.parseInt(String.valueOf(found.value())) < inSync(replicationFactor)) {
                lines.add("topic " + resource.name() + " has " + found.name() + "=" + found.value() + " instead of "
                        + inSync(replicationFactor));
            }
        });
        return lines.stream().sorted().toList();
    }

    /** Waits until the topics are listed: the controller acknowledges a topic before every broker lists it. */
    private void awaitVisible(List<String> names) throws ExecutionException, InterruptedException {
        var interval = new CountDownLatch(1);
        for (int attempt = 0; attempt < VISIBILITY_POLL_ATTEMPTS; attempt++) {
            if (admin.listTopics().names().get().containsAll(names)
                    || interval.await(VISIBILITY_POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    private List<String> check() throws ExecutionException, InterruptedException {
        Set<String> present = admin.listTopics().names().get();
        List<String> expected = Arrays.stream(Topic.values()).map(topics::name).toList();
        List<String> missing =
                expected.stream().filter(name -> !present.contains(name)).toList();
        if (!missing.isEmpty()) {
            requireVisible(missing);
            throw TopicsException.missing("topics " + String.join(", ", missing)
                    + " are missing: create them with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX ('"
                    + topics.prefix() + "')");
        }
        Map<String, TopicDescription> found =
                admin.describeTopics(expected).allTopicNames().get();
        for (Topic topic : Topic.values()) {
            int partitions = Objects.requireNonNull(found.get(topics.name(topic)))
                    .partitions()
                    .size();
            if (partitions != topic.partitions()) {
                throw partitionCountMismatch(topics, topic, partitions);
            }
        }
        return differingSettings();
    }

    /** A list leaves out what its reader may not describe. */
    private void requireVisible(List<String> missing) throws ExecutionException, InterruptedException {
        for (KafkaFuture<TopicDescription> answer :
                admin.describeTopics(missing).topicNameValues().values()) {
            try {
                TopicDescription _ = answer.get();
            } catch (ExecutionException failed) {
                if (!(failed.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw failed;
                }
            }
        }
    }

    /** Creates the error for a topic whose partition count differs from the catalogue. */
    public static TopicsException partitionCountMismatch(Topics topics, Topic topic, int partitions) {
        return TopicsException.unusable("topic " + topics.name(topic) + " has " + partitions + " partitions instead of "
                + topic.partitions() + ", which is fixed for the life of a prefix: delete the topic and run"
                + " 'gpufleet topics apply', or choose another GPUFLEET_TOPIC_PREFIX");
    }

    private List<String> differingSettings() throws ExecutionException, InterruptedException {
        Map<ConfigResource, Topic> resources = Arrays.stream(Topic.values())
                .collect(Collectors.toMap(
                        topic -> new ConfigResource(ConfigResource.Type.TOPIC, topics.name(topic)), topic -> topic));
        Map<ConfigResource, Config> configs =
                admin.describeConfigs(resources.keySet()).all().get();
        List<String> lines = new ArrayList<>();
        resources.forEach((resource, topic) -> topic.brokerSettings().forEach((name, expected) -> {
            ConfigEntry entry = Objects.requireNonNull(configs.get(resource)).get(name);
            String value = entry == null ? "nothing" : String.valueOf(entry.value());
            if (!value.equals(expected)) {
                lines.add(
                        "topic " + resource.name() + " has " + name + "=" + value + ", the catalogue says " + expected);
            }
        }));
        return lines.stream().sorted().toList();
    }
}
