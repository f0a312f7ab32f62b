package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.Answer;
import io.gpufleet.allocation.model.quota.PodAsk;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The single writer of quotas: one thread that takes what is seen and what is asked in the order in which it comes. */
public final class QuotaDesk implements AutoCloseable {
    private static final long TICK_MILLIS = 250;
    private static final int BATCH = 256;

    private final QuotaBook book;
    private final QuotaTerm term;
    private final LongSupplier nanos;
    private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
    private final List<QuotaTerm.Question> waiting = new ArrayList<>();
    private final Thread worker;
    private volatile boolean open = true;

    /** A desk that runs until it is closed; {@code nanos} is a monotonic clock. */
    public QuotaDesk(QuotaTerm term, QuotaBook book, LongSupplier nanos) {
        this.term = term;
        this.book = book;
        this.nanos = nanos;
        this.worker = Thread.ofVirtual().name("quota-desk").start(this::run);
    }

    /** Decides on a pod. Answers when what the answer rests on is written. */
    public CompletionStage<Answer> ask(PodAsk pod, boolean dryRun) {
        var answer = new CompletableFuture<Answer>();
        commands.add(() -> waiting.add(new QuotaTerm.Question(pod, dryRun, answer)));
        return answer;
    }

    /** Tells the book something that was seen. */
    public void tell(Consumer<QuotaBook> seen) {
        commands.add(() -> seen.accept(book));
    }

    /**
     * This replica decides from now on, and goes on until another one takes over or it is closed: what fences it is its
     * token in the quotas, so that admission goes on while Kafka is away.
     */
    public void activated() {
        commands.add(term::wanted);
    }

    /** All quotas with what is used. */
    public CompletionStage<List<QuotaView>> views() {
        var views = new CompletableFuture<List<QuotaView>>();
        commands.add(() -> views.complete(term.views()));
        return views;
    }

    /** True while this replica decides. */
    public boolean decides() {
        return term.decides();
    }

    /** Why this replica, though active, can not decide; empty when it can or need not. */
    public List<String> notReady() {
        return term.notReady();
    }

    private void run() {
        long nextTick = nanos.getAsLong();
        while (open) {
            try {
                Runnable first = commands.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
                for (Runnable next = first; next != null; next = waiting.size() < BATCH ? commands.poll() : null) {
                    next.run();
                }
                if (!waiting.isEmpty()) {
                    var batch = List.copyOf(waiting);
                    waiting.clear();
                    term.answer(batch);
                }
                if (nanos.getAsLong() - nextTick >= 0) {
                    term.tick();
                    nextTick = nanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
                }
            } catch (InterruptedException end) {
                open = false;
            }
        }
    }

    @Override
    public void close() {
        var done = new CompletableFuture<Void>();
        commands.add(() -> {
            term.given();
            done.complete(null);
        });
        done.completeOnTimeout(null, Tenure.PROOF.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        open = false;
        worker.interrupt();
    }
}
