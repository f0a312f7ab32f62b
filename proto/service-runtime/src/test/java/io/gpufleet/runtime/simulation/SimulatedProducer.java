package io.gpufleet.runtime.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.EventType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The transactional producer of a replica. Between a request and its answer others run; an answer that is lost leaves
 * open whether the request was carried out.
 */
public final class SimulatedProducer extends MockProducer<byte[], byte[]> {
    private static final Duration DELIVERY_TIMEOUT = Duration.ofSeconds(8);

    private final SimulatedBroker broker;
    private final Link link;
    private final Consumer<List<ConsumerRecord<byte[], byte[]>>> committed;
    private final PlantedDefect defect;
    private final LongConsumer commitDuration;
    private final List<ProducerRecord<byte[], byte[]>> sent = new ArrayList<>();
    private final List<ProducerRecord<byte[], byte[]>> sentApart = new ArrayList<>();
    private final List<Callback> callbacks = new ArrayList<>();
    private long epoch;
    private long begun;

    /**
     * A producer that has fenced nobody yet.
     *
     * @param committed is given the records of each transaction that the broker has committed, before others run
     * @param commitDuration is given how long each transaction took that was answered, in nanoseconds
     */
    public SimulatedProducer(
            SimulatedBroker broker,
            Link link,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> committed,
            PlantedDefect defect,
            LongConsumer commitDuration) {
        this.broker = broker;
        this.link = link;
        this.committed = committed;
        this.defect = defect;
        this.commitDuration = commitDuration;
    }

    /** True while no other producer has fenced this one. */
    public boolean newest() {
        return broker.newest(epoch);
    }

    /** Without an answer a request is repeated; others run meanwhile. */
    private void awaitAnswer() {
        Lockstep.pause();
        long until = broker.time().nanos() + DELIVERY_TIMEOUT.toNanos();
        while (link.isCut() && broker.time().nanos() < until) {
            Lockstep.pause();
        }
    }

    @Override
    public void initTransactions() {
        awaitAnswer();
        epoch = link.call(broker::fence, () -> new TimeoutException("no answer to InitProducerId"));
        Lockstep.pause();
        if (link.isCut()) {
            throw new TimeoutException("no answer to InitProducerId");
        }
    }

    @Override
    public void beginTransaction() {
        sent.clear();
        sentApart.clear();
        callbacks.clear();
        begun = broker.time().nanos();
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> rec) {
        return send(rec, null);
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> rec, @Nullable Callback callback) {
        boolean apart = defect == PlantedDefect.OFFSETS_OUTSIDE_TRANSACTION && isOffsets(rec);
        (apart ? sentApart : sent).add(rec);
        if (callback != null) {
            callbacks.add(callback);
        }
        return new CompletableFuture<>();
    }

    private static boolean isOffsets(ProducerRecord<byte[], byte[]> rec) {
        Header type = rec.headers().lastHeader("ce_type");
        return type != null && new String(type.value(), UTF_8).equals(EventType.OFFSETS_COMMITTED.ceType());
    }

    @Override
    public void commitTransaction() {
        long appended = broker.time().now().toEpochMilli();
        if (!sent.isEmpty()) {
            commit(sent);
        }
        if (!sentApart.isEmpty()) {
            commit(sentApart);
        }
        commitDuration.accept(broker.time().nanos() - begun);
        var at = new TopicPartition("any", 0);
        callbacks.forEach(callback -> callback.onCompletion(new RecordMetadata(at, 0, 0, appended, 0, 0), null));
    }

    /** Request and answer may both be late: the request is repeated while there is no answer. */
    private void commit(List<ProducerRecord<byte[], byte[]>> records) {
        awaitAnswer();
        link.call(
                () -> {
                    broker.commit(epoch, List.copyOf(records), committed);
                    return true;
                },
                () -> new TimeoutException("no answer to EndTxn"));
        awaitAnswer();
        if (link.isCut()) {
            throw new TimeoutException("no answer to EndTxn");
        }
    }

    @Override
    public void close(Duration timeout) {
        sent.clear();
    }
}
