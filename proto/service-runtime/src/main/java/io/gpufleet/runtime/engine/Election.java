package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.Leadership;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands for election on a thread of its own: whoever is assigned the one partition of the election topic leads. The
 * plain consumer, because its callback returns only after leadership was given back.
 */
final class Election implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Election.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration REJOIN_DELAY = Duration.ofMillis(500);
    /** So many polls without trouble are two seconds. */
    private static final int CALM_POLLS = 20;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final EngineParts<?> parts;
    private final String topic;
    private final Leadership leadership;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean rejoinRequested;
    private volatile Duration absence = Duration.ZERO;
    private volatile @Nullable String failure;
    private volatile String trouble = "";
    private volatile @Nullable Consumer<byte[], byte[]> current;

    private Election(EngineParts<?> parts, String topic, Leadership leadership) {
        this.parts = parts;
        this.topic = topic;
        this.leadership = leadership;
        // A platform thread: the selector of Kafka's clients pins a virtual one (decision 0002).
        this.thread = Thread.ofPlatform()
                .name(parts.settings().service() + "-election")
                .unstarted(this::run);
    }

    /** Joins the group; leadership is granted and revoked from now on. */
    static Election start(EngineParts<?> parts, String topic, Leadership leadership) {
        var election = new Election(parts, topic, leadership);
        election.thread.start();
        return election;
    }

    /**
     * True when no other replica is in the group. One that is has read its states, and would be left out if a replica that
     * reads them still were chosen instead.
     */
    static boolean withoutRival(EngineParts<?> parts, Admin admin) {
        try {
            var groups = admin.describeConsumerGroups(List.of(parts.group())).describedGroups();
            return Objects.requireNonNull(groups.get(parts.group())).get().members().stream()
                    .allMatch(member -> member.groupInstanceId()
                            .filter(parts.settings().instance()::equals)
                            .isPresent());
        } catch (ExecutionException failed) {
            return failed.getCause() instanceof GroupIdNotFoundException;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Joins anew: our writer was fenced, so that our membership may be out of date. */
    void rejoin() {
        leadership.suspend();
        rejoinRequested = true;
    }

    /** Leaves the group for a while, so that another replica leads. */
    void resign(Duration time) {
        leadership.suspend();
        absence = time;
        rejoinRequested = true;
    }

    /** Why this replica cannot stand for election, one line. */
    Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    /** Why this replica does not stand for election now, one line; empty while it does. */
    String trouble() {
        return trouble;
    }

    private void run() {
        while (closing.getCount() > 0 && failure == null) {
            rejoinRequested = false;
            Consumer<byte[], byte[]> candidate = candidate();
            current = candidate;
            try {
                candidate.subscribe(List.of(topic), new AssignmentListener());
                for (int polls = 1; closing.getCount() > 0 && !rejoinRequested; polls++) {
                    candidate.poll(POLL);
                    if (polls == CALM_POLLS) {
                        trouble = "";
                    }
                }
            } catch (FencedInstanceIdException other) {
                failure = "another process stands for election as instance '"
                        + parts.settings().instance() + "': give each replica its own GPUFLEET_INSTANCE";
            } catch (WakeupException woken) {
                LOG.atDebug().log("woken to leave, or to join with another client after our clock was set back");
            } catch (RuntimeException failed) {
                interrupted(parts.reason(failed));
            } finally {
                leadership.revoke();
                leave(candidate);
            }
            stayAway();
        }
    }

    /** One line for each kind of trouble, however often joining fails. */
    private void interrupted(String reason) {
        if (!reason.equals(trouble)) {
            LOG.atWarn().addKeyValue("error", reason).log("election interrupted, joining anew");
        }
        trouble = reason;
        absence = REJOIN_DELAY;
    }

    /**
     * A static member of the service's group. Classic protocol: with the newer one a restarted static member waits for
     * more than a minute. Cooperative and sticky: a standby that joins does not interrupt the leader.
     */
    private Consumer<byte[], byte[]> candidate() {
        long session = parts.settings().sessionTimeout().toMillis();
        Properties config = parts.kafka().properties(parts.settings().instance() + "-election");
        config.put(ConsumerConfig.GROUP_ID_CONFIG, parts.group());
        config.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
        config.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, parts.settings().instance());
        config.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        config.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, Long.toString(session));
        config.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, Long.toString(Math.min(300, session / 3)));
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        return parts.kafka().consumer(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private void leave(Consumer<byte[], byte[]> candidate) {
        boolean forGood = closing.getCount() == 0 || !absence.isZero();
        var operation = forGood
                ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
                : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
        try {
            candidate.close(CloseOptions.timeout(CLOSE_TIMEOUT).withGroupMembershipOperation(operation));
        } catch (KafkaException trouble) {
            LOG.atWarn().addKeyValue("error", trouble.getMessage()).log("the group was not left cleanly");
        }
    }

    private void stayAway() {
        Duration time = absence;
        absence = Duration.ZERO;
        if (time.isZero()) {
            return;
        }
        try {
            if (closing.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atDebug().log("closing while out of the group");
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
