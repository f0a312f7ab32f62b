package io.gpufleet.runtime.engine;

import com.google.protobuf.Timestamp;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.record.InputOffsets;
import io.gpufleet.runtime.transaction.UnfinishedTransactions;
import io.gpufleet.wire.EventType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Writes the transactions of one term, and learns the broker's clock from each. */
final class TransactionWriter<S> {
    private final EngineParts<S> parts;
    private final EngineContext context;
    private final Producer<byte[], byte[]> producer;
    private final UnfinishedTransactions unfinished;
    private final BatchEncoder<S> encoder;
    private final InputOffsets offsets;
    private final String changelog;

    /** Writes with a producer that has fenced the others. */
    TransactionWriter(
            EngineParts<S> parts,
            EngineContext context,
            Producer<byte[], byte[]> producer,
            UnfinishedTransactions unfinished,
            BatchEncoder<S> encoder,
            InputOffsets offsets) {
        this.parts = parts;
        this.context = context;
        this.producer = producer;
        this.unfinished = unfinished;
        this.encoder = encoder;
        this.offsets = offsets;
        this.changelog = parts.codec().topics().name(parts.spec().changelog());
    }

    /** Commits these records; answers when that was begun, by the monotonic clock. */
    long commit(List<ProducerRecord<byte[], byte[]>> records, boolean withOffsets) {
        if (!unfinished.allKnown()) {
            unfinished.endBefore(
                    producer,
                    records.stream()
                            .filter(rec -> rec.key() != null)
                            .map(parts::partitionOf)
                            .toList());
        }
        long begun = parts.clients().nanos();
        producer.beginTransaction();
        sendInTransaction(records, withOffsets);
        producer.commitTransaction();
        return begun;
    }

    private void sendInTransaction(List<ProducerRecord<byte[], byte[]>> records, boolean withOffsets) {
        boolean onChangelog =
                withOffsets || records.stream().anyMatch(rec -> rec.topic().equals(changelog));
        if (withOffsets) {
            producer.send(encoder.own(
                    EventType.OFFSETS_COMMITTED,
                    Changelog.OFFSETS,
                    offsets.toMessage(),
                    parts.clock().instant()));
        }
        for (int i = 0; i < records.size(); i++) {
            send(records.get(i), onChangelog && i == records.size() - 1);
        }
        if (!onChangelog) {
            // A standby counts our lease from the newest record of the changelog that it reads.
            send(active(false), true);
        }
    }

    private void send(ProducerRecord<byte[], byte[]> rec, boolean last) {
        if (!last) {
            producer.send(rec);
            return;
        }
        BrokerClock.Sent sent = context.brokerClock().sending();
        producer.send(rec, (metadata, failure) -> {
            if (failure == null) {
                context.brokerClock().learn(sent, metadata.timestamp());
            }
        });
    }

    /** Says on the changelog who leads, or that nobody does. */
    ProducerRecord<byte[], byte[]> active(boolean resigned) {
        Instant now = parts.clock().instant();
        var message = ActiveReplica.newBuilder()
                .setInstance(parts.settings().instance())
                .setGrpcAddress(resigned ? "" : parts.settings().grpcAddress())
                .setSince(
                        Timestamp.newBuilder().setSeconds(now.getEpochSecond()).setNanos(now.getNano()))
                .setRun(context.run())
                .setResigned(resigned);
        return encoder.own(EventType.ACTIVE_CHANGED, Changelog.ACTIVE, message.build(), now);
    }

    /** True when another replica has begun a term meanwhile. */
    static boolean fenced(Throwable failed) {
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProducerFencedException || cause instanceof InvalidProducerEpochException) {
                return true;
            }
        }
        return false;
    }

    /** Waits so long for what is under way. */
    void close(Duration patience) {
        unfinished.close();
        producer.close(patience);
    }
}
