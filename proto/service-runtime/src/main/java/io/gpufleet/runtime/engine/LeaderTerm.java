package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.record.DeadLetters;
import io.gpufleet.runtime.record.InputDecoder;
import io.gpufleet.runtime.record.InputDecoder.Input;
import io.gpufleet.runtime.record.InputOffsets;
import io.gpufleet.runtime.record.ReplayedDeadLetters;
import io.gpufleet.runtime.sequence.WriterSequences;
import io.gpufleet.runtime.transaction.UnfinishedTransactions;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One term of a leader, from fencing its predecessor to its last commit. Any exception ends it; the states in memory may
 * then be ahead of the log and are restored.
 */
final class LeaderTerm<S> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderTerm.class);
    /** Enough for every core. */
    private static final int DECODED_AT_ONCE = 256;

    private static final long TICK_NANOS = Duration.ofMillis(250).toNanos();
    /** Commits of an idle term, one a second, after which it counts as productive. */
    private static final int IDLE_COMMITS = 5;

    private static final long COMMIT_NANOS = Duration.ofSeconds(1).toNanos();

    private final EngineParts<S> parts;
    private final EngineContext context;
    private final StateStore<S> store;
    private final States<S> committed;
    private final InputOffsets offsets;
    private final ReplayedDeadLetters replayed;
    private final BatchEncoder<S> encoder;
    private final TransactionWriter<S> writer;
    private final InputReader inputs;
    private final InputBatches batches;
    private final InputDecoder decoder;
    private final InputReceiver<S> receiver;
    private final Ticker<S> ticker;
    private final long actNanos;
    private boolean restored;
    private boolean acting;
    private boolean closedCleanly;
    private long lastTick;
    /** Ticks that do not wait for their time: one when all inputs are read to their ends, one when that is committed. */
    private int earlyTicks = 2;

    private long lastCommit;
    private long commitsInTerm;
    private boolean progressed;

    private LeaderTerm(
            EngineParts<S> parts,
            EngineContext context,
            Changelog<S> changelog,
            Producer<byte[], byte[]> producer,
            UnfinishedTransactions unfinished,
            long actNanos) {
        this.parts = parts;
        this.context = context;
        this.store = changelog.store();
        this.committed = store.committed();
        this.offsets = changelog.offsets();
        this.replayed = changelog.replayed();
        this.actNanos = actNanos;
        var source = new EventSource.Service(
                parts.codec().cluster(), parts.settings().instance());
        long incarnation = Math.max(parts.clock().millis(), changelog.newestIncarnation() + 1);
        this.encoder = new BatchEncoder<>(parts, new EventSequencer(parts.codec(), source, incarnation, parts.clock()));
        this.writer = new TransactionWriter<>(parts, context, producer, unfinished, encoder, offsets);
        this.inputs = new InputReader(parts, offsets, context.counting(), context.probe()::ends);
        this.batches =
                new InputBatches(inputs, parts.clients(), parts.projection().linger());
        this.decoder = new InputDecoder(parts.codec(), parts.spec().heartbeats());
        var letters = new DeadLetters(
                parts.codec().topics().name(Topic.DEADLETTER), parts.settings().service());
        this.receiver = new InputReceiver<>(parts, changelog, letters, context.staleWriters());
        this.ticker = new Ticker<>(parts, store, inputs.progress());
    }

    /**
     * Fences the old leader, reads its changelog to the end, and says on the log who leads now. A term that is told to
     * stop before the end is over at once, also when it is told to go on meanwhile: its states would be older than the log.
     */
    static <S> LeaderTerm<S> begin(
            EngineParts<S> parts, EngineContext context, Changelog<S> changelog, BooleanSupplier stop) {
        UnfinishedTransactions unfinished = UnfinishedTransactions.beforeFence(
                parts.written(), parts.clients().transactions(), parts.clients()::nanos);
        Producer<byte[], byte[]> producer = parts.clients().writer();
        try {
            producer.initTransactions();
            long fenced = parts.clients().nanos();
            unfinished.end(producer);
            boolean restored = changelog.catchUp(stop);
            var term = new LeaderTerm<>(
                    parts, context, changelog, producer, unfinished, actFrom(context, changelog, fenced));
            if (restored) {
                term.restored = true;
                term.inputs.assign(context.topicIds());
                context.probe().ask();
                term.announce(false);
                parts.projection().restarted(term.store, context.brokerClock().now());
            }
            return term;
        } catch (RuntimeException failed) {
            unfinished.close();
            producer.close(Duration.ZERO);
            throw failed;
        }
    }

    /**
     * An older leader that has not resigned may act until its lease is over, which counts from before its last commit. Each
     * commit leaves a record on the changelog, and after the fence there are no more: so it counts from before we read the last.
     * A term of our own that waited for that, and ended before, has left its record behind it: what it found counts on.
     */
    private static long actFrom(EngineContext context, Changelog<?> changelog, long fenced) {
        boolean nobodyElse = changelog
                .active()
                .map(last -> last.getResigned() || last.getRun().equals(context.run()))
                .orElse(true);
        if (!nobodyElse) {
            context.waitUntil(Math.min(fenced, changelog.newestRecordNanos())
                    + context.lease().durationNanos());
        }
        return context.waitUntil();
    }

    /** One that ends before it may act does not resign: the lease that it waited for would be forgotten with its record. */
    private void announce(boolean last) {
        Batch batch = new Batch().withOffsets(last);
        var all = encoder.encode(batch, store, parts.clock().instant());
        all.add(writer.active(last && mayAct()));
        commit(batch, all, last && offsets.changed());
    }

    private boolean mayAct() {
        return parts.clients().nanos() - actNanos >= 0;
    }

    /** Folds until told to stop, then stops acting, and resigns in the last commit. */
    void run(BooleanSupplier stop) {
        if (!restored) {
            return;
        }
        lastTick = batches.begin() - TICK_NANOS;
        while (!stop.getAsBoolean()) {
            beginActing();
            process(batches.next(earlyTicks > 0), now());
        }
        stopActing();
        announce(true);
        closedCleanly = true;
    }

    /** The broker's time. After a jump of our own clock a commit tells anew how far they are apart. */
    private Instant now() {
        Instant now = context.brokerClock().now();
        if (!context.brokerClock().jumped()) {
            return now;
        }
        announce(false);
        return context.brokerClock().now();
    }

    private void beginActing() {
        if (!acting && mayAct() && context.lease().held()) {
            acting = true;
            parts.actor().begin(context.lease(), committed);
            context.acts();
        }
    }

    /** No further call to the outside is begun when this returns. */
    void stopActing() {
        if (acting) {
            acting = false;
            parts.actor().end();
        }
    }

    private void process(List<ConsumerRecord<byte[], byte[]>> read, Instant now) {
        boolean due = parts.clients().nanos() - lastCommit >= COMMIT_NANOS;
        Batch batch = new Batch().withOffsets(due);
        fold(read, now, batch);
        if (tickIsDue(now)) {
            ticker.tick(now, batch);
            countGaps(now, batch);
        }
        List<ProducerRecord<byte[], byte[]>> encoded;
        try {
            encoded = encoder.encode(batch, store, now);
        } catch (RuntimeException unwritable) {
            undo();
            oneByOne(read, now);
            return;
        }
        offsets.read(read);
        List<ProducerRecord<byte[], byte[]>> all = new ArrayList<>(encoded);
        if (due) {
            replayed.expired(now).forEach(key -> {
                all.add(encoder.forgetOwn(key));
                replayed.remove(key);
            });
            all.add(writer.active(false));
        }
        if (!all.isEmpty()) {
            batches.readAhead(read);
        }
        commit(batch, all, !all.isEmpty() && offsets.changed() && batch.needsOffsets());
        context.tickFailures(ticker.failures());
    }

    /** Decodes and folds part by part: what is decoded of a batch at once outlives collections. */
    private void fold(List<ConsumerRecord<byte[], byte[]>> read, Instant now, Batch batch) {
        for (int from = 0; from < read.size(); from += DECODED_AT_ONCE) {
            var part = read.subList(from, Math.min(read.size(), from + DECODED_AT_ONCE));
            decoder.decode(part).forEach(input -> receiver.receive(input, now, batch));
        }
    }

    /** Every 250 ms, and early when the inputs were read to their ends: what waits for that must not wait for its time. */
    private boolean tickIsDue(Instant now) {
        long nanos = parts.clients().nanos();
        boolean due = nanos - lastTick >= TICK_NANOS;
        if (due || earlyTicks > 0) {
            inputs.measure(nanos, now);
        }
        if (earlyTicks > 0 && inputs.progress().caughtUp(now)) {
            earlyTicks--;
            due = true;
        }
        if (due) {
            lastTick = nanos;
        }
        return due;
    }

    private void undo() {
        parts.projection().undone(store.undo(), store);
    }

    private void countGaps(Instant now, Batch batch) {
        boolean caughtUp = inputs.progress().caughtUp(now);
        for (WriterSequences.Gap gap : offsets.gaps(caughtUp, parts.settings().writerGapWait(), now)) {
            batch.count.missedFromServices.addAndGet(gap.missed());
            context.missedEvents().add(gap, now);
            LOG.atWarn()
                    .addKeyValue("topic", gap.topic())
                    .addKeyValue("source", gap.source())
                    .addKeyValue("epoch", gap.epoch())
                    .addKeyValue("from", gap.from())
                    .addKeyValue("to", gap.to())
                    .log("events of a service never arrived");
        }
    }

    /** Each input and each tick in a transaction of its own: whatever cannot be written goes alone. */
    private void oneByOne(List<ConsumerRecord<byte[], byte[]>> records, Instant now) {
        for (ConsumerRecord<byte[], byte[]> rec : records) {
            Batch batch = new Batch().withOffsets(true);
            Input input = decoder.decode(List.of(rec)).getFirst();
            receiver.receive(input, now, batch);
            List<ProducerRecord<byte[], byte[]>> encoded;
            try {
                encoded = encoder.encode(batch, store, now);
            } catch (RuntimeException unwritable) {
                undo();
                batch = new Batch().withOffsets(true);
                receiver.admitOnly(input);
                receiver.bury(rec, InputReceiver.reason(unwritable), batch);
                encoded = encoder.encode(batch, store, now);
            }
            offsets.read(rec);
            commit(batch, encoded, true);
        }
        ticker.tickOneByOne(
                now,
                batch -> encoder.encode(batch, store, now),
                this::undo,
                (batch, encoded) -> commit(batch, encoded, false));
    }

    private void commit(Batch batch, List<ProducerRecord<byte[], byte[]>> records, boolean withOffsets) {
        if (records.isEmpty() && !withOffsets) {
            context.counting().add(batch.count);
            store.commit();
            return;
        }
        Map<String, S> changed = store.changed();
        Set<String> forgotten = store.forgotten();
        long begun = writer.commit(records, withOffsets);
        batches.committed();
        context.lease().renew(begun);
        context.probe().answered();
        lastCommit = begun;
        commitsInTerm++;
        progressed |= withOffsets || !changed.isEmpty();
        context.counting().commits.incrementAndGet();
        store.commit();
        batch.replayed().forEach(replayed::add);
        if (acting && !(changed.isEmpty() && forgotten.isEmpty())) {
            parts.actor().changed(changed, forgotten);
        }
        batch.reportCommitted(context.timings());
        // Only now: what is counted can be read by anybody.
        context.counting().add(batch.count);
    }

    /** True when some input was committed, or nothing came for some seconds: what fails again is read again at once. */
    boolean productive() {
        return progressed || commitsInTerm > IDLE_COMMITS;
    }

    @Override
    public void close() {
        context.lease().end();
        stopActing();
        batches.endReadingAhead();
        // A broker that is gone is not waited for; the transaction that is open is aborted by whoever fences us.
        writer.close(closedCleanly ? Duration.ofSeconds(2) : Duration.ZERO);
        inputs.close();
    }
}
