package io.gpufleet.runtime.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
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
    private final List<ProducerRecord<byte[], byte[]>> sent = new ArrayList<>();
    private final List<Callback> callbacks = new ArrayList<>();
    private long epoch;

    /**
     * A producer that has fenced nobody yet.
     *
     * @param committed is given the records of each transaction that the broker has committed, before others run
     */
    public SimulatedProducer(
            SimulatedBroker broker, Link link, Consumer<List<ConsumerRecord<byte[], byte[]>>> committed) {
        this.broker = broker;
        this.link = link;
        this.committed = committed;
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
        callbacks.clear();
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> rec) {
        return send(rec, null);
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> rec, @Nullable Callback callback) {
        sent.add(rec);
        if (callback != null) {
            callbacks.add(callback);
        }
        return new CompletableFuture<>();
    }

    @Override
    public void commitTransaction() {
        awaitAnswer();
        long appended = broker.time().now().toEpochMilli();
        link.call(
                () -> {
                    broker.commit(epoch, List.copyOf(sent), committed);
                    return true;
                },
                () -> new TimeoutException("no answer to EndTxn"));
        Lockstep.pause();
        if (link.isCut()) {
            throw new TimeoutException("no answer to EndTxn");
        }
        var at = new TopicPartition(sent.getLast().topic(), 0);
        callbacks.forEach(callback -> callback.onCompletion(new RecordMetadata(at, 0, 0, appended, 0, 0), null));
    }

    @Override
    public void close(Duration timeout) {
        sent.clear();
    }
}
