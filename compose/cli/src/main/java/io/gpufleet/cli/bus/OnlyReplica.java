package io.gpufleet.cli.bus;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;

/** The only replica of a partition, which can be moved to another broker. Every method blocks, for up to a minute. */
public final class OnlyReplica implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int NOBODY = Node.noNode().id();

    private final Admin admin;
    private final TopicPartition partition;

    /** The partition of a key. */
    public OnlyReplica(String bootstrap, Topic topic, String key) {
        this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap));
        this.partition = new TopicPartition(new Topics(Topics.DEFAULT_PREFIX).name(topic), topic.partitionOf(key));
    }

    /** Moves the replica to a broker, as soon as that is one of the cluster, and waits until it leads. */
    public void moveTo(int broker) {
        await(
                "broker " + broker + " does not join the cluster",
                () -> get(admin.describeCluster().nodes()).stream().anyMatch(node -> node.id() == broker));
        get(admin.alterPartitionReassignments(
                        Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(broker)))))
                .all());
        awaitLeader(broker);
    }

    /** Waits until that broker leads which has the replica. */
    public void awaitLeader(int broker) {
        await(partition + " is not led by broker " + broker, () -> leader() == broker && hasOneReplica());
    }

    /** Waits until nobody leads the partition. */
    public void awaitNoLeader() {
        await(partition + " keeps a leader", () -> leader() == NOBODY);
    }

    /** Removes a broker that has ended from the cluster. */
    public void removeBroker(int broker) {
        get(admin.unregisterBroker(broker).all());
    }

    private int leader() {
        return Optional.ofNullable(description().leader()).map(Node::id).orElse(NOBODY);
    }

    private boolean hasOneReplica() {
        return description().replicas().size() == 1;
    }

    private TopicPartitionInfo description() {
        var topics = get(admin.describeTopics(List.of(partition.topic())).allTopicNames());
        return Objects.requireNonNull(topics.get(partition.topic()))
                .partitions()
                .get(partition.partition());
    }

    private static void await(String failure, BooleanSupplier condition) {
        var never = new CountDownLatch(1);
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        try {
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(failure + " after " + TIMEOUT.toSeconds() + " s");
                }
                var _ = never.await(POLL.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | java.util.concurrent.TimeoutException failed) {
            throw new IllegalStateException("Kafka does not do what a drill asks for: " + failed.getMessage(), failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
