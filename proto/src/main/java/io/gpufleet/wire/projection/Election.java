package io.gpufleet.wire.projection;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leader election by group membership, on its own thread: the member that is assigned the only partition of the
 * election topic is active. Uses Kafka's own consumer, so that the revocation callback returns only after leadership
 * was given up.
 */
final class Election implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Election.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final ProjectionContext context;
    private final String topic;
    private final Leadership leadership;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean rejoinRequested;
    private volatile @Nullable String failure;
    private volatile @Nullable Consumer<byte[], byte[]> current;

    private Election(ProjectionContext context, String topic, Leadership leadership) {
        this.context = context;
        this.topic = topic;
        this.leadership = leadership;
        // A platform thread: the selector of Kafka's clients pins a virtual one (decision 0001).
        this.thread = Thread.ofPlatform()
                .name(context.settings().service() + "-election")
                .unstarted(this::run);
    }

    /** Joins the group; leadership is acquired and revoked from now on. */
    static Election start(ProjectionContext context, String topic, Leadership leadership) {
        var election = new Election(context, topic, leadership);
        election.thread.start();
        return election;
    }

    /** Leaves and joins the group again, after the producer was fenced: the membership may have ended too. */
    void rejoin() {
        leadership.suspend();
        rejoinRequested = true;
    }

    /** Returns the reason why this replica cannot take part in the election, one line. */
    Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    private void run() {
        while (closing.getCount() > 0 && failure == null) {
            rejoinRequested = false;
            Consumer<byte[], byte[]> candidate = context.electionConsumer();
            current = candidate;
            try {
                candidate.subscribe(java.util.List.of(topic), new AssignmentListener());
                while (closing.getCount() > 0 && !rejoinRequested) {
                    candidate.poll(POLL);
                }
            } catch (FencedInstanceIdException other) {
                failure = "another process is a member of the group as instance '"
                        + context.settings().instance() + "': give each replica its own GPUFLEET_INSTANCE";
            } catch (WakeupException closed) {
                LOG.atDebug().log("closing");
            } catch (RuntimeException trouble) {
                LOG.atWarn().addKeyValue("error", trouble.toString()).log("election interrupted, rejoining");
                backOff();
            } finally {
                leadership.revoke();
                leave(candidate);
            }
        }
    }

    private void leave(Consumer<byte[], byte[]> candidate) {
        boolean permanently = closing.getCount() == 0;
        var operation = permanently
                ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
                : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
        try {
            candidate.close(CloseOptions.timeout(CLOSE_TIMEOUT).withGroupMembershipOperation(operation));
        } catch (KafkaException trouble) {
            LOG.atWarn().addKeyValue("error", trouble.getMessage()).log("consumer group not left cleanly");
        }
    }

    private void backOff() {
        try {
            if (closing.await(500, TimeUnit.MILLISECONDS)) {
                LOG.atDebug().log("closing while waiting for the broker");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closing.countDown();
        Consumer<byte[], byte[]> candidate = current;
        if (candidate != null) {
            candidate.wakeup();
        }
        try {
            thread.join(CLOSE_TIMEOUT.plusSeconds(2));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private final class AssignmentListener implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            if (!partitions.isEmpty()) {
                leadership.acquire();
            }
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            if (!partitions.isEmpty()) {
                leadership.revoke();
            }
        }
    }
}
