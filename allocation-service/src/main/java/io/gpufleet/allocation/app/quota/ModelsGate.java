package io.gpufleet.allocation.app.quota;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Tells the decider when the announced GPU models are known: once the ledger is read, or when that has taken so long that
 * Kafka is away. The models of Nodes are then those of their labels, and a pod of an unknown model counts on every limit.
 */
public final class ModelsGate implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long ROUND_MILLIS = 250;

    private final BooleanSupplier ledgerRead;
    private final Consumer<ClusterSyncPrecondition> listed;
    private final LongSupplier nanos;
    private final long startedAt;
    private volatile boolean open;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("models-gate").daemon().factory());

    ModelsGate(BooleanSupplier ledgerRead, Consumer<ClusterSyncPrecondition> listed, LongSupplier nanos) {
        this.ledgerRead = ledgerRead;
        this.listed = listed;
        this.nanos = nanos;
        this.startedAt = nanos.getAsLong();
    }

    /** Starts the thread, which ends once the models are known; {@code ledgerRead} asks whether the ledger is complete. */
    public static ModelsGate start(BooleanSupplier ledgerRead, QuotaDecider decider) {
        var gate = new ModelsGate(ledgerRead, decider::listed, System::nanoTime);
        var _ = gate.timer.scheduleWithFixedDelay(gate::round, 0, ROUND_MILLIS, TimeUnit.MILLISECONDS);
        return gate;
    }

    /** True once the decider was told. On any thread. */
    public boolean isOpen() {
        return open;
    }

    /** True once the decider was told. */
    boolean round() {
        boolean known = ledgerRead.getAsBoolean() || nanos.getAsLong() - startedAt >= PATIENCE.toNanos();
        if (known) {
            open = true;
            listed.accept(ClusterSyncPrecondition.MODELS);
            timer.shutdown();
        }
        return known;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
