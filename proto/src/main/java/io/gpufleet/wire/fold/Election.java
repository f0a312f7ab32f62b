package io.gpufleet.wire.fold;

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
 * Stands for election on a thread of its own: whoever is assigned the one partition of the election topic is active.
 * The plain consumer, because its callback returns only after the mandate was given back.
 */
final class Election implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Election.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration LEAVE = Duration.ofSeconds(5);

    private final FoldParts parts;
    private final String topic;
    private final Mandate mandate;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean again;
    private volatile @Nullable String failure;
    private volatile @Nullable Consumer<byte[], byte[]> present;

    private Election(FoldParts parts, String topic, Mandate mandate) {
        this.parts = parts;
        this.topic = topic;
        this.mandate = mandate;
        // A plain thread: the selector of Kafka's clients pins a virtual one (decision 0001).
        this.thread = Thread.ofPlatform()
                .name(parts.settings().service() + "-election")
                .unstarted(this::run);
    }

    /** Joins the group; the mandate is granted and withdrawn from now on. */
    static Election start(FoldParts parts, String topic, Mandate mandate) {
        var election = new Election(parts, topic, mandate);
        election.thread.start();
        return election;
    }

    /** Joins anew: our writer was fenced, so that our membership may be a thing of the past. */
    void renew() {
        mandate.doubt();
        again = true;
    }

    /** Why this replica can not stand for election, one line. */
    Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    private void run() {
        while (closing.getCount() > 0 && failure == null) {
            again = false;
            Consumer<byte[], byte[]> candidate = parts.candidate();
            present = candidate;
            try {
                candidate.subscribe(java.util.List.of(topic), new Outcome());
                while (closing.getCount() > 0 && !again) {
                    candidate.poll(POLL);
                }
            } catch (FencedInstanceIdException other) {
                failure = "another process stands for election as instance '"
                        + parts.settings().instance() + "': give each replica its own GPUFLEET_INSTANCE";
            } catch (WakeupException woken) {
                LOG.atDebug().log("woken to leave");
            } catch (RuntimeException trouble) {
                LOG.atWarn().addKeyValue("error", trouble.toString()).log("election interrupted, joining anew");
                pause();
            } finally {
                mandate.withdraw();
                leave(candidate);
            }
        }
    }

    private void leave(Consumer<byte[], byte[]> candidate) {
        boolean forGood = closing.getCount() == 0;
        var operation = forGood
                ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
                : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
        try {
            candidate.close(CloseOptions.timeout(LEAVE).withGroupMembershipOperation(operation));
        } catch (KafkaException trouble) {
            LOG.atWarn().addKeyValue("error", trouble.getMessage()).log("the group was not left in good order");
        }
    }

    private void pause() {
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
        Consumer<byte[], byte[]> candidate = present;
        if (candidate != null) {
            candidate.wakeup();
        }
        try {
            thread.join(LEAVE.plusSeconds(2));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Outcome implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            if (!partitions.isEmpty()) {
                mandate.grant();
            }
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            if (!partitions.isEmpty()) {
                mandate.withdraw();
            }
        }
    }
}
