package io.gpufleet.runtime.transaction;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a transaction of a former term that is still open on some partitions although its coordinator counts it as over: the
 * next commit there would take its records with it (decision 0008). A transaction of ours that has a record on such a
 * partition gets a marker there, which ends both.
 */
public final class UnfinishedTransactions implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnfinishedTransactions.class);
    /** Key of a record that is sent to be aborted. */
    private static final byte[] ABORTED = "@aborted".getBytes(UTF_8);

    private static final long PATIENCE_NANOS = Duration.ofSeconds(5).toNanos();
    /** Markers follow within some milliseconds, unless the broker is busy with more than that. */
    private static final long FIRST_PAUSE_MILLIS = 2;

    private static final long LONGEST_PAUSE_MILLIS = 250;

    private final Written written;
    private final OpenTransactions transactions;
    private final LongSupplier nanos;
    private final boolean committed;
    /** Partitions that have not answered yet. */
    private final Set<TopicPartition> unknown = new HashSet<>();

    /**
     * Partitions that the service writes to.
     *
     * @param changelog those that it restores its states from
     * @param outputs those that it alone writes to beside them
     * @param shared those that other services write to as well
     */
    public record Written(Set<TopicPartition> changelog, Set<TopicPartition> outputs, Set<TopicPartition> shared) {
        /** Keeps copies. */
        public Written {
            changelog = Set.copyOf(changelog);
            outputs = Set.copyOf(outputs);
            shared = Set.copyOf(shared);
        }

        private Set<TopicPartition> all() {
            Set<TopicPartition> all = new HashSet<>(changelog);
            all.addAll(outputs);
            all.addAll(shared);
            return all;
        }
    }

    private UnfinishedTransactions(Written written, OpenTransactions transactions, LongSupplier nanos) {
        this.written = written;
        this.transactions = transactions;
        this.nanos = nanos;
        this.committed = transactions.newestIsCommitted();
    }

    /**
     * Asks for the outcome of the newest transaction, which the fence makes the coordinator forget.
     *
     * @param nanos monotonic time
     */
    public static UnfinishedTransactions beforeFence(
            Written written, OpenTransactions transactions, LongSupplier nanos) {
        try {
            return new UnfinishedTransactions(written, transactions, nanos);
        } catch (RuntimeException failed) {
            transactions.close();
            throw failed;
        }
    }

    /** Ends what is open anywhere; a partition without a leader is left until something is to be written to it. */
    public void end(Producer<byte[], byte[]> producer) {
        end(producer, written.all());
        if (written.changelog().stream().anyMatch(unknown::contains)) {
            throw new TimeoutException("a partition of the own changelog does not answer");
        }
        closeWhenKnown();
    }

    /** True when every partition has answered. */
    public boolean allKnown() {
        return unknown.isEmpty();
    }

    private void closeWhenKnown() {
        if (allKnown()) {
            close();
        }
    }

    /** The same for those of these partitions that did not answer before. */
    public void endBefore(Producer<byte[], byte[]> producer, Collection<TopicPartition> partitions) {
        Set<TopicPartition> wanted = new HashSet<>(partitions);
        wanted.retainAll(unknown);
        if (!wanted.isEmpty()) {
            end(producer, wanted);
            wanted.retainAll(unknown);
            if (!wanted.isEmpty()) {
                throw new TimeoutException("partitions " + wanted + " do not answer");
            }
            closeWhenKnown();
        }
    }

    private void end(Producer<byte[], byte[]> producer, Collection<TopicPartition> partitions) {
        OpenTransactions.Found found = transactions.find(partitions);
        unknown.removeAll(partitions);
        unknown.addAll(found.unknown());
        Map<TopicPartition, Long> open = new HashMap<>(found.open());
        if (committed) {
            // Those of the other services end by themselves.
            open.keySet().removeAll(written.shared());
        }
        if (open.isEmpty()) {
            return;
        }
        LOG.atWarn()
                .addKeyValue("partitions", open.keySet())
                .addKeyValue("outcome", committed ? "commit" : "abort")
                .log("ending a transaction that the broker has left open");
        write(producer, open);
        awaitEnd(open.keySet());
    }

    private void write(Producer<byte[], byte[]> producer, Map<TopicPartition, Long> open) {
        producer.beginTransaction();
        List<Future<?>> sent = new ArrayList<>();
        open.forEach((partition, from) -> record(partition, from).ifPresent(rec -> sent.add(producer.send(rec))));
        if (committed) {
            producer.commitTransaction();
            return;
        }
        producer.flush();
        sent.forEach(UnfinishedTransactions::assertWritten);
        producer.abortTransaction();
    }

    /** Record to write; one that is committed repeats what a reader will have read before, and drops or replaces. */
    private Optional<ProducerRecord<byte[], byte[]>> record(TopicPartition partition, long from) {
        if (!committed) {
            return Optional.of(new ProducerRecord<>(partition.topic(), partition.partition(), ABORTED, null));
        }
        return transactions
                .newestRecord(partition, from)
                .map(rec -> new ProducerRecord<>(
                        partition.topic(), partition.partition(), rec.key(), rec.value(), rec.headers()));
    }

    private static void assertWritten(Future<?> sent) {
        try {
            var _ = sent.get();
        } catch (ExecutionException failed) {
            throw new KafkaException(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new TimeoutException("interrupted");
        }
    }

    /** Waits for the markers, which follow the answer by some milliseconds; what is committed is read next. */
    private void awaitEnd(Set<TopicPartition> ended) {
        long begun = nanos.getAsLong();
        Set<TopicPartition> own = new HashSet<>(ended);
        own.removeAll(written.shared());
        for (long pause = FIRST_PAUSE_MILLIS; !own.isEmpty(); pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS)) {
            pause(pause);
            own.retainAll(transactions.find(own).open().keySet());
            if (!own.isEmpty() && nanos.getAsLong() - begun > PATIENCE_NANOS) {
                LOG.atError()
                        .addKeyValue("partitions", own)
                        .log("a transaction is still open: readers wait there until it is ended, see"
                                + " 'kafka-transactions.sh find-hanging'");
                return;
            }
        }
    }

    private static void pause(long millis) {
        try {
            var _ = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new TimeoutException("interrupted");
        }
    }

    @Override
    public void close() {
        transactions.close();
    }
}
