package io.gpufleet.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
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
import org.apache.kafka.common.errors.TopicExistsException;

/** Creates the topics of the catalogue and holds them against it. Every method blocks, at most about 10 s. */
public final class TopicAdmin {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Duration VISIBLE_PACE = Duration.ofMillis(50);
    private static final int VISIBLE_ATTEMPTS = 200;

    private final Admin admin;
    private final Topics topics;

    private TopicAdmin(Admin admin, Topics topics) {
        this.admin = admin;
        this.topics = topics;
    }

    /** {@link #apply(String, Topics, short)} for a single broker. */
    public static List<String> apply(String bootstrap, Topics topics) {
        return apply(bootstrap, topics, (short) 1);
    }

    /**
     * Creates the topics that are missing, then checks all. Changes nothing of one that exists.
     *
     * @return one line for each topic created and for each setting that differs from the catalogue
     */
    public static List<String> apply(String bootstrap, Topics topics, short replicationFactor) {
        return withAdmin(bootstrap, topics, it -> {
            List<String> lines = new ArrayList<>(it.create(replicationFactor));
            lines.addAll(it.check());
            return lines;
        });
    }

    /**
     * Holds the topics against the catalogue; {@link TopicsException} when one is missing or has another partition count.
     *
     * @return one line for each setting that differs
     */
    public static List<String> check(String bootstrap, Topics topics) {
        return withAdmin(bootstrap, topics, TopicAdmin::check);
    }

    private interface Work {
        List<String> in(TopicAdmin admin) throws ExecutionException, InterruptedException;
    }

    private static List<String> withAdmin(String bootstrap, Topics topics, Work work) {
        var settings = new Properties();
        settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(PATIENCE.toMillis()));
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(PATIENCE.toMillis() / 2));
        try (Admin admin = Admin.create(settings)) {
            return work.in(new TopicAdmin(admin, topics));
        } catch (ExecutionException failed) {
            throw unreachable(bootstrap, failed.getCause() == null ? failed : failed.getCause());
        } catch (KafkaException failed) {
            throw unreachable(bootstrap, failed.getCause() == null ? failed : failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unreachable(bootstrap, interrupted);
        }
    }

    private static TopicsException unreachable(String bootstrap, Throwable cause) {
        return TopicsException.brokerAway("Kafka at '" + bootstrap + "' could not be asked for its topics ("
                + cause.getMessage() + "): check that the broker runs and that GPUFLEET_KAFKA names it as host:port");
    }

    private List<String> create(short replicationFactor) throws ExecutionException, InterruptedException {
        Set<String> present = admin.listTopics().names().get();
        List<NewTopic> missing = Arrays.stream(Topic.values())
                .filter(topic -> !present.contains(topics.name(topic)))
                .map(topic -> new NewTopic(topics.name(topic), topic.partitions(), replicationFactor)
                        .configs(topic.brokerSettings()))
                .toList();
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, KafkaFuture<Void>> creation :
                admin.createTopics(missing).values().entrySet()) {
            try {
                creation.getValue().get();
                lines.add("created topic " + creation.getKey());
            } catch (ExecutionException failed) {
                if (!(failed.getCause() instanceof TopicExistsException)) {
                    throw failed;
                }
            }
        }
        awaitVisible(missing.stream().map(NewTopic::name).toList());
        return lines;
    }

    /** The controller acknowledges a topic before every broker tells of it; who comes next may ask any of them. */
    private void awaitVisible(List<String> names) throws ExecutionException, InterruptedException {
        var pace = new CountDownLatch(1);
        for (int attempt = 0; attempt < VISIBLE_ATTEMPTS; attempt++) {
            if (admin.listTopics().names().get().containsAll(names)
                    || pace.await(VISIBLE_PACE.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    private List<String> check() throws ExecutionException, InterruptedException {
        Set<String> present = admin.listTopics().names().get();
        List<String> wanted = Arrays.stream(Topic.values()).map(topics::name).toList();
        List<String> missing =
                wanted.stream().filter(name -> !present.contains(name)).toList();
        if (!missing.isEmpty()) {
            throw TopicsException.unusable("topics " + String.join(", ", missing)
                    + " are missing: create them with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX ('"
                    + topics.prefix() + "')");
        }
        Map<String, TopicDescription> found =
                admin.describeTopics(wanted).allTopicNames().get();
        for (Topic topic : Topic.values()) {
            int partitions = Objects.requireNonNull(found.get(topics.name(topic)))
                    .partitions()
                    .size();
            if (partitions != topic.partitions()) {
                throw wrongCount(topics, topic, partitions);
            }
        }
        return differing();
    }

    /** The line about a topic whose partition count is not the catalogue's. */
    public static TopicsException wrongCount(Topics topics, Topic topic, int partitions) {
        return TopicsException.unusable("topic " + topics.name(topic) + " has " + partitions + " partitions instead of "
                + topic.partitions() + ", which is fixed for the life of a prefix: delete the topic and run"
                + " 'gpufleet topics apply', or choose another GPUFLEET_TOPIC_PREFIX");
    }

    private List<String> differing() throws ExecutionException, InterruptedException {
        Map<ConfigResource, Topic> resources = Arrays.stream(Topic.values())
                .collect(Collectors.toMap(
                        topic -> new ConfigResource(ConfigResource.Type.TOPIC, topics.name(topic)), topic -> topic));
        Map<ConfigResource, Config> configs =
                admin.describeConfigs(resources.keySet()).all().get();
        List<String> lines = new ArrayList<>();
        resources.forEach((resource, topic) -> topic.brokerSettings().forEach((name, wanted) -> {
            ConfigEntry entry = Objects.requireNonNull(configs.get(resource)).get(name);
            String value = entry == null ? "nothing" : String.valueOf(entry.value());
            if (!value.equals(wanted)) {
                lines.add("topic " + resource.name() + " has " + name + "=" + value + ", the catalogue says " + wanted);
            }
        }));
        return lines.stream().sorted().toList();
    }
}
