package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.BrokerContact;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the broker every two seconds for the ends of the input partitions and every twenty for the topics, on a thread of
 * its own: a consumer is told neither that a broker is gone nor that a topic is another one now.
 */
final class BrokerProbe implements AutoCloseable {
    /**
     * Ends of partitions as the broker told them.
     *
     * @param offsets by partition; a partition without a leader is absent
     * @param atNanos monotonic time before they were asked for
     */
    record Ends(Map<TopicPartition, Long> offsets, long atNanos) {}

    /** A topic is missing or the broker cannot say; waited for. The message is one line for people. */
    static final class TopicsUnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private TopicsUnavailableException(String message) {
            super(message);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(BrokerProbe.class);
    private static final Duration INTERVAL = Duration.ofSeconds(2);
    /** Stands for the topics while they are not as they have to be. */
    private static final String CHANGED = "changed";

    private static final long TOPICS_EVERY_NANOS = Duration.ofSeconds(20).toNanos();
    /** A partition without a leader is waited for this long; twice that and the interval is less than 10 s. */
    private static final int ENDS_TIMEOUT_MILLIS = 3_000;

    private final EngineParts<?> parts;
    private final BrokerContact contact;
    private final Duration interval;
    private final Semaphore wanted = new Semaphore(0);
    private final Thread thread;
    private volatile Ends ends = new Ends(Map.of(), System.nanoTime());
    private volatile Map<String, String> topicIds = Map.of();
    private volatile long topicsGeneration;
    private volatile List<String> missingRights = List.of();
    private volatile boolean closed;

    /** Asks nothing before {@link #start}. */
    BrokerProbe(EngineParts<?> parts) {
        this(parts, intervalOf(parts));
    }

    private BrokerProbe(EngineParts<?> parts, Duration interval) {
        this.parts = parts;
        this.interval = interval;
        this.contact =
                new BrokerContact(parts.kafka().bootstrap(), parts.settings().sessionTimeout(), System::nanoTime);
        this.thread = Thread.ofPlatform()
                .name(parts.settings().service() + "-probe")
                .daemon()
                .unstarted(this::run);
    }

    static BrokerProbe start(EngineParts<?> parts) {
        return start(parts, intervalOf(parts));
    }

    /** Asks for the ends that often, and whenever it is told to. */
    static BrokerProbe start(EngineParts<?> parts, Duration interval) {
        var probe = new BrokerProbe(parts, interval);
        probe.contact.watch(parts.settings().service() + "-contact");
        probe.thread.start();
        return probe;
    }

    /** Often enough that a broker which answers is heard twice before it counts as silent. */
    private static Duration intervalOf(EngineParts<?> parts) {
        Duration third = parts.settings().sessionTimeout().dividedBy(3);
        return third.compareTo(INTERVAL) < 0 ? third : INTERVAL;
    }

    /** Asks for the ends at once: a term that begins need not wait for the next time to know that it has read all. */
    void ask() {
        if (wanted.availablePermits() == 0) {
            wanted.release();
        }
    }

    /** Why the broker counts as away, one line; while it answers, a line for each right that it refuses. */
    List<String> failures() {
        return contact.silentFor()
                .map(time -> List.of(
                        "Kafka at " + parts.kafka().bootstrap() + " has not answered for " + time.toSeconds() + " s"))
                .orElse(missingRights);
    }

    Ends ends() {
        return ends;
    }

    /** Changes whenever a topic was recreated, deleted, or has another number of partitions than before. */
    long topicsGeneration() {
        return topicsGeneration;
    }

    /**
     * Ids of the topics that this service needs, by full name. Throws {@link TopicsUnavailableException} while one is
     * missing, {@link ProjectionStoppedException} when one has another number of partitions than the catalogue says.
     */
    static Map<String, String> check(EngineParts<?> parts, Admin admin) {
        Topics topics = parts.codec().topics();
        Set<Topic> needed = needed(parts.spec(), parts.config().further());
        Map<String, TopicDescription> found = describe(parts, admin, needed);
        Map<String, String> ids = new HashMap<>();
        for (Topic topic : needed) {
            TopicDescription description = found.get(topics.name(topic));
            if (description == null) {
                throw new TopicsUnavailableException("topic " + topics.name(topic)
                        + " is missing: create it with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX ('"
                        + topics.prefix() + "')");
            }
            int partitions = description.partitions().size();
            if (partitions != topic.partitions()) {
                throw new ProjectionStoppedException(
                        String.valueOf(TopicAdmin.partitionCountMismatch(topics, topic, partitions)
                                .getMessage()));
            }
            ids.put(description.name(), description.topicId().toString());
        }
        return ids;
    }

    /**
     * Waits until every partition of the changelog and the inputs has a leader that answers. The admin client asks again
     * within 100 ms; a consumer that meets a topic created a moment ago waits for its whole timeout. Answers their ends.
     */
    static Map<TopicPartition, Long> awaitLeaders(EngineParts<?> parts, Admin admin) {
        Set<Topic> topics = parts.spec().read();
        topics.add(parts.spec().changelog());
        return ends(parts, admin, topics);
    }

    /** Ends of these topics, with what is not committed yet. */
    static Map<TopicPartition, Long> ends(EngineParts<?> parts, Admin admin, Set<Topic> topics) {
        Map<TopicPartition, OffsetSpec> asked = topics.stream()
                .flatMap(topic -> parts.partitions(topic).stream())
                .collect(Collectors.toMap(partition -> partition, _ -> OffsetSpec.latest()));
        return answer(parts, admin.listOffsets(asked).all()::get).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, found -> found.getValue().offset()));
    }

    /**
     * True when the changelog was never written though an output was. A leader writes to its changelog first, so that a service
     * that starts for the first time finds both empty.
     *
     * @param ends at least those of the changelog
     */
    static boolean emptied(EngineParts<?> parts, Admin admin, Map<TopicPartition, Long> ends) {
        return neverWritten(parts, ends)
                && ends(parts, admin, parts.spec().outputs()).values().stream().anyMatch(end -> end > 0)
                // Another replica may have begun to lead meanwhile.
                && neverWritten(parts, ends(parts, admin, Set.of(parts.spec().changelog())));
    }

    private static boolean neverWritten(EngineParts<?> parts, Map<TopicPartition, Long> ends) {
        return parts.partitions(parts.spec().changelog()).stream()
                .allMatch(partition -> ends.getOrDefault(partition, 0L) == 0);
    }

    /** Id of the Kafka that answers, which every user may ask for. */
    static String clusterId(EngineParts<?> parts, Admin admin) {
        return answer(parts, admin.describeCluster().clusterId()::get);
    }

    /** A question to the broker, which blocks until it is answered. */
    private interface Question<A> {
        A ask() throws ExecutionException, InterruptedException;
    }

    private static <A> A answer(EngineParts<?> parts, Question<A> question) {
        try {
            return question.ask();
        } catch (ExecutionException failed) {
            throw new TopicsUnavailableException(
                    parts.rights().refused(failed).orElseGet(() -> String.valueOf(failed.getCause())));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new TopicsUnavailableException("interrupted");
        }
    }

    private static Set<Topic> needed(ProjectionSpec spec, FurtherTopics further) {
        Set<Topic> needed = EnumSet.of(spec.changelog(), Topic.ELECTION, Topic.DEADLETTER);
        needed.addAll(spec.read());
        needed.addAll(spec.outputs());
        needed.addAll(further.sent());
        needed.addAll(further.followed());
        return needed;
    }

    private static Map<String, TopicDescription> describe(EngineParts<?> parts, Admin admin, Set<Topic> needed) {
        List<String> names = needed.stream().map(parts.codec().topics()::name).toList();
        return answer(parts, () -> {
            Map<String, TopicDescription> found = new HashMap<>();
            for (var answer : admin.describeTopics(names).topicNameValues().entrySet()) {
                try {
                    found.put(answer.getKey(), answer.getValue().get());
                } catch (ExecutionException failed) {
                    if (!(failed.getCause() instanceof UnknownTopicOrPartitionException)) {
                        throw failed;
                    }
                }
            }
            return found;
        });
    }

    /** An admin client of this engine; the caller closes it. */
    static Admin admin(EngineParts<?> parts) {
        var config = parts.kafka().properties(parts.settings().instance() + "-probe");
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
        return parts.kafka().admin(config);
    }

    private void run() {
        List<TopicPartition> partitions = parts.spec().read().stream()
                .flatMap(topic -> parts.partitions(topic).stream())
                .toList();
        try {
            while (!closed) {
                askUntilReplaced(partitions);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** No client can be made while no name of the broker is resolved: the next attempt is that of the next interval. */
    private void askUntilReplaced(List<TopicPartition> partitions) throws InterruptedException {
        long setBacks = parts.kafka().clockSetBacks();
        Admin made;
        try {
            made = admin(parts);
        } catch (KafkaException notMade) {
            LOG.atDebug()
                    .addKeyValue("error", String.valueOf(notMade.getCause()))
                    .log("no client");
            var _ = wanted.tryAcquire(interval.toMillis(), TimeUnit.MILLISECONDS);
            return;
        }
        ask(made, setBacks, partitions);
    }

    /** Asks until it is closed, or until our clock is set back, which ends the client. */
    private void ask(Admin client, long setBacks, List<TopicPartition> partitions) throws InterruptedException {
        try (Admin admin = client) {
            long topicsAsked = System.nanoTime() - TOPICS_EVERY_NANOS;
            while (!closed && parts.kafka().clockSetBacks() == setBacks) {
                long asked = System.nanoTime();
                boolean answered = askEnds(admin, partitions);
                if (answered && System.nanoTime() - topicsAsked >= TOPICS_EVERY_NANOS) {
                    topicsAsked = System.nanoTime();
                    askTopics(admin);
                }
                if (answered) {
                    askRights(admin);
                }
                // What a partition without a leader took is no part of the pause.
                long pause = interval.toNanos() - (System.nanoTime() - asked);
                if (wanted.tryAcquire(pause, TimeUnit.NANOSECONDS)) {
                    LOG.atTrace().log("asked before the next time");
                }
            }
        }
    }

    private boolean askEnds(Admin admin, List<TopicPartition> partitions) throws InterruptedException {
        long asked = System.nanoTime();
        var result = admin.listOffsets(
                partitions.stream().collect(Collectors.toMap(partition -> partition, _ -> OffsetSpec.latest())),
                new ListOffsetsOptions(IsolationLevel.READ_COMMITTED).timeoutMs(ENDS_TIMEOUT_MILLIS));
        // When it arrives, not when it is read: a partition without a leader is waited for in between.
        partitions.forEach(partition -> result.partitionResult(partition).whenComplete((_, failed) -> {
            if (failed == null) {
                contact.answered();
            }
        }));
        Map<TopicPartition, Long> found = new HashMap<>();
        for (TopicPartition partition : partitions) {
            try {
                found.put(partition, result.partitionResult(partition).get().offset());
            } catch (ExecutionException leaderless) {
                LOG.atDebug()
                        .addKeyValue("partition", partition)
                        .addKeyValue("error", String.valueOf(leaderless.getCause()))
                        .log("partition did not answer");
            }
        }
        found(new Ends(found, asked));
        return !found.isEmpty();
    }

    /** A right that is used once a month is missed today; each is reported once. */
    private void askRights(Admin admin) throws InterruptedException {
        List<String> missing = parts.rights().missing(admin);
        missing.stream()
                .filter(line -> !missingRights.contains(line))
                .forEach(line -> LOG.atError().addKeyValue("reason", line).log("a right is missing"));
        missingRights = missing;
    }

    /** Takes in ends that the broker told. */
    void found(Ends told) {
        ends = told;
    }

    private void askTopics(Admin admin) {
        Map<String, String> before = topicIds;
        Map<String, String> now;
        try {
            now = check(parts, admin);
        } catch (ProjectionStoppedException | TopicsUnavailableException changed) {
            now = Map.of(CHANGED, String.valueOf(changed.getMessage()));
        }
        topicIds = now;
        // The check at the start may have seen the topics as they were a moment before.
        boolean firstAndGood = before.isEmpty() && !now.containsKey(CHANGED);
        if (!firstAndGood && !before.equals(now)) {
            LOG.atWarn().log("topics changed: this term ends and they are checked again");
            topicsGeneration++;
        }
    }

    /**
     * Told that the broker answered just now, to whichever client; thread-safe. A leader's commit is such an answer, and
     * comes up to five seconds before the probe's own.
     */
    void answered() {
        contact.answered();
    }

    @Override
    public void close() {
        closed = true;
        contact.close();
        wanted.release();
    }
}
