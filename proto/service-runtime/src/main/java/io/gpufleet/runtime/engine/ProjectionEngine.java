package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.Leadership;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.EventTimings;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one projection: standby, take-over, active, and back, until it is closed. One thread calls the projection. Trouble
 * with the broker is waited out; what cannot be mended here ends the engine with {@link #failure()}.
 *
 * @param <S> state of one key
 */
public final class ProjectionEngine<S> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProjectionEngine.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);
    /**
     * The program ends 10 s after SIGTERM: in the rest of them what is closed after this one sends what it still has. A commit
     * under way takes milliseconds; where the broker does not answer, the next leader decides about it.
     */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** A replica that has committed for so many leases leads with success. */
    private static final int LEASES_OF_A_LEADER = 3;

    private final EngineParts<S> parts;
    private final BrokerProbe probe;
    private final EngineContext context;
    private final StateStore.Committed<S> committed;
    private final Leadership leadership = new Leadership();
    private final Candidacy candidacy;
    private final CompletableFuture<Long> writerIncarnation = new CompletableFuture<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Consumer<String> onFailure;
    private final Thread thread;
    private boolean warm;
    private volatile ReplicaRole role = ReplicaRole.STARTING;
    private volatile String lastError = "";
    /** The newest failure in the log since a term was productive. Of the engine's thread. */
    private String lastLogged = "";

    private volatile String activeAddress = "";
    private volatile @Nullable String failure;

    private ProjectionEngine(EngineParts<S> parts, Consumer<String> onFailure) {
        this.parts = parts;
        this.committed = new StateStore.Committed<>(parts.listener());
        this.onFailure = onFailure;
        this.probe = BrokerProbe.start(parts);
        this.context = new EngineContext(parts, probe);
        this.candidacy = new Candidacy(parts, context, leadership);
        // A platform thread: the selector of Kafka's clients pins a virtual one (decision 0002).
        this.thread = Thread.ofPlatform()
                .name(parts.settings().service() + "-projection")
                .unstarted(this::run);
    }

    /**
     * Starts and returns at once; a broker that does not answer yet is waited for.
     *
     * @param onFailure told once, on the engine's thread, why the projection is over in this process
     */
    public static <S> ProjectionEngine<S> start(
            EngineConfig config,
            Projection<S> projection,
            Actor<S> actor,
            StateListener<S> listener,
            Consumer<String> onFailure) {
        var engine = new ProjectionEngine<>(new EngineParts<>(config, projection, actor, listener), onFailure);
        engine.thread.start();
        return engine;
    }

    /** Role of this replica now. */
    public ReplicaRole role() {
        return role;
    }

    /** True while this replica leads, acts, and its lease is held. */
    public boolean active() {
        return role == ReplicaRole.ACTIVE && context.lease().held();
    }

    /** The committed states, readable on any thread, also on a standby. */
    public States<S> states() {
        return committed;
    }

    /** Why this replica should not get work yet, a line for each reason; empty when it is ready (also as a standby). */
    public List<String> readinessFailures() {
        String changelog = parts.codec().topics().name(parts.spec().changelog());
        List<String> lines = new ArrayList<>();
        String why = lastError.isEmpty() ? "" : ": " + lastError;
        switch (role) {
            case STARTING -> lines.add("own changelog " + changelog + " is being read" + why);
            case TAKING_OVER -> lines.add("taking over as the active replica" + why);
            case ACTIVE -> {
                if (!context.lease().held()) {
                    lines.add("no commit for " + context.lease().age().toSeconds() + " s: nothing is acted upon" + why);
                }
            }
            case STANDBY -> {}
            case STOPPED -> lines.add(failure().orElse("stopped"));
        }
        lines.addAll(probe.failures());
        lines.addAll(candidacy.readinessFailures());
        lines.addAll(context.tickFailures());
        lines.addAll(context.failedKeys().lines());
        lines.addAll(context.lostTopics().lines());
        context.brokerClock().readinessFailure().ifPresent(lines::add);
        return lines;
    }

    /** Why the projection ended by itself, one line; a process that sees it should say so and end. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    /** host:port of the leader's gRPC server, as the changelog says; empty while unknown. */
    public String activeAddress() {
        return activeAddress;
    }

    /** Counts so far. */
    public ProjectionCounters counters() {
        return ProjectionCounters.of(context, active());
    }

    /** Listener for the time that each event takes, from now on. */
    public void timings(EventTimings receiver) {
        context.timings(receiver);
    }

    /** True when the newest events of this node were all refused as older than one already applied. */
    public boolean refusedAsStale(String node) {
        return context.staleWriters().stale(node);
    }

    /** Events of services that never arrived, a line for each of the newest gaps that this replica found. */
    public List<String> missedFromServices() {
        return context.missedEvents().lines();
    }

    /**
     * Incarnation for this instance's own sender of commands, higher than any it had before; known once the changelog has
     * been read.
     */
    public CompletableFuture<Long> writerIncarnation() {
        return writerIncarnation.copy();
    }

    private void run() {
        try {
            while (!stopping()) {
                serve();
            }
        } catch (ProjectionStoppedException stopped) {
            fail(String.valueOf(stopped.getMessage()));
        } catch (Error broken) {
            fail("the projection ended by " + broken);
            throw broken;
        } finally {
            role = ReplicaRole.STOPPED;
            probe.close();
            candidacy.close();
        }
    }

    private void fail(String line) {
        failure = line;
        LOG.atError().addKeyValue("reason", line).log("projection cannot go on");
        onFailure.accept(line);
    }

    /** From empty states to the end of a term, or to the first trouble. That a clock was set back is none (proto 0006). */
    private void serve() {
        role = ReplicaRole.STARTING;
        long generation = probe.topicsGeneration();
        long setBacks = parts.kafka().clockSetBacks();
        try {
            checkBroker();
            try (Changelog<S> changelog = Changelog.open(parts, committed)) {
                long begun = System.nanoTime();
                changelog.catchUp(this::stopping);
                context.counting().restoreMillis.set(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
                if (stopping()) {
                    return;
                }
                writerIncarnation.complete(Math.max(parts.clock().millis(), changelog.ownWriterIncarnation() + 1));
                candidacy.stand();
                if (!warm) {
                    warm = true;
                    warmUp();
                }
                lastError = "";
                role = ReplicaRole.STANDBY;
                standBy(changelog, generation);
                if (!stopping() && generation == probe.topicsGeneration() && leadership.beginActing()) {
                    lead(changelog, generation);
                }
            }
        } catch (ProjectionStoppedException stopped) {
            throw stopped;
        } catch (RuntimeException failed) {
            if (parts.kafka().clockSetBacks() == setBacks) {
                recover(failed);
            }
        }
    }

    /** While the election takes its time. */
    private void warmUp() {
        try {
            LOG.atDebug()
                    .addKeyValue("records", FoldWarmUp.run(parts, leadership::held))
                    .log("projection warmed up");
        } catch (RuntimeException failed) {
            LOG.atWarn().setCause(failed).log("projection could not be warmed up, the first event takes longer");
        }
    }

    private void checkBroker() {
        try (Admin admin = BrokerProbe.admin(parts)) {
            String kafka = BrokerProbe.clusterId(parts, admin);
            Optional<String> former = context.joined(kafka);
            former.ifPresent(before -> LOG.atWarn()
                    .addKeyValue("kafka", parts.kafka().bootstrap())
                    .addKeyValue("id", kafka)
                    .addKeyValue("before", before)
                    .log("another Kafka answers at this address: states are read from its changelog"));
            context.topicIds(BrokerProbe.check(parts, admin));
            Map<TopicPartition, Long> ends = BrokerProbe.awaitLeaders(parts, admin);
            context.lostTopics()
                    .check(context.topicIds(), former.isPresent(), () -> BrokerProbe.emptied(parts, admin, ends));
            candidacy.standWithoutRival(admin);
        }
    }

    private void standBy(Changelog<S> changelog, long generation) {
        long since = parts.clients().nanos();
        while (!stopping() && !leadership.held() && generation == probe.topicsGeneration()) {
            activeAddress =
                    changelog.active().map(active -> active.getGrpcAddress()).orElse("");
            changelog.follow();
            candidacy.check();
            long now = parts.clients().nanos();
            if (!changelog.ledByAnother(context, now)) {
                since = now;
            } else if (now - since > LEASES_OF_A_LEADER * context.lease().durationNanos()) {
                candidacy.anotherLeads();
            }
        }
    }

    private void lead(Changelog<S> changelog, long generation) {
        role = ReplicaRole.TAKING_OVER;
        LOG.atInfo().addKeyValue("instance", parts.settings().instance()).log("taking over");
        context.counting().terms.incrementAndGet();
        try (LeaderTerm<S> term = LeaderTerm.begin(parts, context, changelog, this::mustStop)) {
            try {
                activeAddress = parts.settings().grpcAddress();
                term.run(() -> {
                    if (role == ReplicaRole.TAKING_OVER && context.acting()) {
                        role = ReplicaRole.ACTIVE;
                        LOG.atInfo()
                                .addKeyValue("instance", parts.settings().instance())
                                .log("active");
                    }
                    if (term.productive()) {
                        candidacy.productive();
                        lastLogged = "";
                    }
                    return mustStop() || generation != probe.topicsGeneration();
                });
            } finally {
                role = ReplicaRole.STARTING;
                context.actsNoMore();
                term.stopActing();
                // Before the clients are closed, which takes its time: the next leader need not wait for that.
                releaseLeadership();
            }
        } catch (RuntimeException failed) {
            if (!stopping()) {
                context.counting().termsFailed.incrementAndGet();
            }
            throw failed;
        } finally {
            leadership.endActing();
        }
    }

    private void releaseLeadership() {
        leadership.endActing();
        if (stopping()) {
            candidacy.close();
        }
    }

    private boolean mustStop() {
        return stopping() || !leadership.held();
    }

    private boolean stopping() {
        return closing.getCount() == 0;
    }

    /** After any failure the states may be ahead of the log: the caller starts from empty ones. */
    private void recover(RuntimeException failed) {
        if (stopping()) {
            return;
        }
        boolean led = leadership.held();
        String reason = parts.reason(failed);
        boolean fenced = TransactionWriter.fenced(failed);
        // One line for each kind of failure, however often it is met.
        (reason.equals(lastLogged) ? LOG.atDebug() : LOG.atWarn())
                .addKeyValue("fenced", fenced)
                .addKeyValue("error", reason)
                .log("restoring the states from the changelog");
        lastLogged = reason;
        lastError = reason;
        candidacy.failed(reason, fenced, led);
        candidacy.check();
        backOff();
    }

    private void backOff() {
        try {
            if (closing.await(RETRY_DELAY.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atDebug().log("closing while waiting for the broker");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stores the offsets, stops acting, resigns, leaves the group; returns within 5 s. */
    @Override
    public void close() {
        closing.countDown();
        try {
            if (!thread.join(CLOSE_TIMEOUT)) {
                LOG.atWarn().log("the projection did not end in time");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
