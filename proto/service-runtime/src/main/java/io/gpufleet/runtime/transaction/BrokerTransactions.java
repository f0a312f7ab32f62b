package io.gpufleet.runtime.transaction;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks a broker. Everything but {@link #newestRecord} takes no right beyond DESCRIBE. */
public final class BrokerTransactions implements OpenTransactions {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerTransactions.class);
    private static final int ENDS_TIMEOUT_MILLIS = 3_000;
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int POLLS = 100;

    private final Admin admin;
    private final String transactionalId;
    private final Supplier<Consumer<byte[], byte[]>> readers;

    /**
     * With a client of its own.
     *
     * @param readers a consumer that sees records that are not committed
     */
    public BrokerTransactions(Admin admin, String transactionalId, Supplier<Consumer<byte[], byte[]>> readers) {
        this.admin = admin;
        this.transactionalId = transactionalId;
        this.readers = readers;
    }

    @Override
    public boolean newestIsCommitted() {
        try {
            TransactionState state = admin.describeTransactions(List.of(transactionalId))
                    .description(transactionalId)
                    .get()
                    .state();
            return state == TransactionState.PREPARE_COMMIT || state == TransactionState.COMPLETE_COMMIT;
        } catch (ExecutionException failed) {
            return switch (failed.getCause()) {
                case TransactionalIdNotFoundException _, UnsupportedVersionException _ -> false;
                case RuntimeException refused -> throw refused;
                case null, default -> throw new KafkaException(failed.getCause());
            };
        } catch (InterruptedException interrupted) {
            throw interrupted();
        }
    }

    @Override
    public Found find(Collection<TopicPartition> partitions) {
        // In this order: what is committed meanwhile is not taken for open.
        Map<TopicPartition, Long> written = ends(partitions, IsolationLevel.READ_UNCOMMITTED);
        Map<TopicPartition, Long> committed = ends(written.keySet(), IsolationLevel.READ_COMMITTED);
        Map<TopicPartition, Long> open = new HashMap<>(committed);
        open.keySet()
                .removeIf(partition -> committed.getOrDefault(partition, 0L) >= written.getOrDefault(partition, 0L));
        Set<TopicPartition> unknown = new HashSet<>(partitions);
        unknown.removeAll(committed.keySet());
        return new Found(open, unknown);
    }

    private Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions, IsolationLevel isolation) {
        var result = admin.listOffsets(
                partitions.stream().collect(Collectors.toMap(partition -> partition, _ -> OffsetSpec.latest())),
                new ListOffsetsOptions(isolation).timeoutMs(ENDS_TIMEOUT_MILLIS));
        Map<TopicPartition, Long> ends = new HashMap<>();
        for (TopicPartition partition : partitions) {
            try {
                ends.put(partition, result.partitionResult(partition).get().offset());
            } catch (ExecutionException leaderless) {
                LOG.atDebug()
                        .addKeyValue("partition", partition)
                        .addKeyValue("error", String.valueOf(leaderless.getCause()))
                        .log("partition did not answer");
            } catch (InterruptedException interrupted) {
                throw interrupted();
            }
        }
        return ends;
    }

    @Override
    public Optional<ConsumerRecord<byte[], byte[]>> newestRecord(TopicPartition partition, long from) {
        try (Consumer<byte[], byte[]> reader = readers.get()) {
            reader.assign(List.of(partition));
            reader.seek(partition, from);
            return newestRecord(
                    reader, partition, reader.endOffsets(List.of(partition)).getOrDefault(partition, from));
        } catch (AuthorizationException mayNotRead) {
            LOG.atDebug().addKeyValue("partition", partition).log(mayNotRead.getMessage());
            return Optional.empty();
        }
    }

    private static Optional<ConsumerRecord<byte[], byte[]>> newestRecord(
            Consumer<byte[], byte[]> reader, TopicPartition partition, long end) {
        Optional<ConsumerRecord<byte[], byte[]>> newest = Optional.empty();
        for (int polls = 0; reader.position(partition) < end; polls++) {
            if (polls == POLLS) {
                throw new TimeoutException(partition + " cannot be read to its end");
            }
            List<ConsumerRecord<byte[], byte[]>> records = reader.poll(POLL).records(partition);
            if (!records.isEmpty()) {
                newest = Optional.of(records.getLast());
            }
        }
        return newest;
    }

    private static TimeoutException interrupted() {
        Thread.currentThread().interrupt();
        return new TimeoutException("interrupted");
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
