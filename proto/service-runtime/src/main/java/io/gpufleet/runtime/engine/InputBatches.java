package io.gpufleet.runtime.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the inputs of a term in batches, each of which a transaction takes in. Of the engine's thread. */
final class InputBatches {
    private static final Logger LOG = LoggerFactory.getLogger(InputBatches.class);
    private static final Duration POLL = Duration.ofMillis(100);
    /** Waits that short see at once that the inputs are read to their ends, of which the broker tells another thread. */
    private static final Duration FIRST_POLL = Duration.ofMillis(5);

    private static final long FIRST_POLLS_NANOS = Duration.ofSeconds(2).toNanos();
    /**
     * A broker goes on ending a transaction for 1 to 3 ms after it has answered the commit. It does not refuse the next
     * one meanwhile, it lets it wait for 20 ms (add.partitions.to.txn.retry.backoff.ms).
     */
    private static final long COMMIT_PAUSE_NANOS = Duration.ofMillis(3).toNanos();

    private static final long REST_NANOS = Duration.ofMillis(2).toNanos();
    /** Folding so many takes longer than that pause. */
    private static final int LARGE_BATCH = 300;

    private final InputReader inputs;
    private final EngineClients clients;
    private final long lingerNanos;
    private Supplier<List<ConsumerRecord<byte[], byte[]>>> ahead = List::of;
    private long begunNanos;
    private long lastCommitEnd;

    InputBatches(InputReader inputs, EngineClients clients, Duration linger) {
        this.inputs = inputs;
        this.clients = clients;
        this.lingerNanos = linger.toNanos();
        this.lastCommitEnd = clients.nanos();
    }

    /** The first batch is read from now on; answers when that is, by the monotonic clock. */
    long begin() {
        begunNanos = clients.nanos();
        return begunNanos;
    }

    /**
     * Reads the records that are there, that arrive while the first one lingers, and that come soon after a commit.
     *
     * @param awaitsEnds whether something waits for the inputs to be read to their ends
     */
    List<ConsumerRecord<byte[], byte[]>> next(boolean awaitsEnds) {
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>(ahead.get());
        ahead = List::of;
        if (found.isEmpty()) {
            boolean first = awaitsEnds && clients.nanos() - begunNanos < FIRST_POLLS_NANOS;
            found.addAll(inputs.poll(first ? FIRST_POLL : POLL));
        }
        boolean lingers = lingerNanos > 0 && !found.isEmpty() && found.size() < LARGE_BATCH;
        if (lingers) {
            inputs.rest(Duration.ofNanos(lingerNanos));
            found.addAll(inputs.poll(Duration.ZERO));
        }
        long now = clients.nanos();
        // What arrived while it rested takes a request more.
        long end = now + Math.max(lingers ? REST_NANOS : 0, lastCommitEnd + COMMIT_PAUSE_NANOS - now);
        while (end - now > 0 && found.size() < LARGE_BATCH) {
            found.addAll(inputs.poll(Duration.ofMillis(1 + (end - now) / 1_000_000)));
            now = clients.nanos();
        }
        return found;
    }

    /** After a large batch there is more: it is read while the broker commits, and folded only after that. */
    void readAhead(List<ConsumerRecord<byte[], byte[]>> batch) {
        if (batch.size() >= LARGE_BATCH) {
            ahead = clients.beside(() -> inputs.poll(Duration.ZERO));
        }
    }

    /** The broker has answered a commit. */
    void committed() {
        lastCommitEnd = clients.nanos();
    }

    /** A consumer is used by one thread at a time, also to close it. */
    void endReadingAhead() {
        try {
            var _ = ahead.get();
        } catch (RuntimeException ofNoMatter) {
            LOG.atDebug().setCause(ofNoMatter).log("reading ahead ended with the term");
        }
    }
}
