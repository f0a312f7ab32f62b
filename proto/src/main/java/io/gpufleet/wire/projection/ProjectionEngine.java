package io.gpufleet.wire.projection;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one projection until it is closed: standby, take-over, active, and back to standby. One thread calls the
 * projection. Broker failures are retried; a changelog record that cannot be read stops the engine with
 * {@link #failure()}.
 */
public final class ProjectionEngine implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProjectionEngine.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);

    private final ProjectionContext context;
    private final AtomicCounters counters = new AtomicCounters();
    private final Leadership leadership = new Leadership();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private @Nullable Election election;
    private volatile ReplicaRole role = ReplicaRole.STARTING;
    private volatile String lastError = "";
    private volatile String activeAddress = "";
    private volatile @Nullable String failure;

    private ProjectionEngine(ProjectionContext context) {
        this.context = context;
        // A platform thread: the selector of Kafka's clients pins a virtual one (decision 0001).
        this.thread = Thread.ofPlatform()
                .name(context.settings().service() + "-projection")
                .unstarted(this::run);
    }

    /** Starts an engine and returns at once; waits in the background for a broker that does not respond yet. */
    public static ProjectionEngine start(ProjectionSettings settings, Codec codec, Projection projection, Clock clock) {
        var engine = new ProjectionEngine(new ProjectionContext(settings, codec, projection, clock));
        engine.thread.start();
        return engine;
    }

    /** Returns the current role of this replica. */
    public ReplicaRole role() {
        return role;
    }

    /** Returns the reasons why this replica is not ready, one line each; empty when it is ready, also as a standby. */
    public List<String> readinessFailures() {
        String changelog = context.codec().topics().name(context.projection().changelog());
        String why = lastError.isEmpty() ? "" : ": " + lastError;
        return switch (role) {
            case STARTING -> List.of("own changelog " + changelog + " is being read" + why);
            case TAKING_OVER -> List.of("taking over as the active replica" + why);
            case STANDBY, ACTIVE -> List.of();
            case STOPPED -> List.of(failure().orElse("stopped"));
        };
    }

    /** Returns the reason why the engine stopped by itself, one line; the process should then log it and exit. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    /** Returns host:port of the active replica's gRPC server from the changelog; empty while unknown. */
    public String activeAddress() {
        return activeAddress;
    }

    /** Returns the current counters. */
    public ProjectionCounters counters() {
        return counters.snapshot();
    }

    private void run() {
        try {
            while (!stopping()) {
                serve();
            }
        } catch (ProjectionStoppedException stopped) {
            failure = stopped.getMessage();
            LOG.atError().addKeyValue("reason", stopped.getMessage()).log("projection stopped");
        } catch (Error broken) {
            failure = "projection failed: " + broken;
            throw broken;
        } finally {
            role = ReplicaRole.STOPPED;
            if (election != null) {
                election.close();
            }
        }
    }

    /** Runs from an empty state to the end of a term or to the first failure. */
    private void serve() {
        role = ReplicaRole.STARTING;
        try (Changelog changelog = Changelog.open(context)) {
            changelog.catchUp(this::stopping);
            if (election == null && !stopping()) {
                election = Election.start(context, context.codec().topics().name(Topic.ELECTION), leadership);
            }
            lastError = "";
            role = stopping() ? ReplicaRole.STARTING : ReplicaRole.STANDBY;
            while (!stopping() && !leadership.held()) {
                activeAddress = changelog.active().getGrpcAddress();
                changelog.follow();
                checkElection();
            }
            if (!stopping() && leadership.beginActing()) {
                lead(changelog);
            }
        } catch (ProjectionStoppedException stopped) {
            throw stopped;
        } catch (RuntimeException failed) {
            recover(failed);
        }
    }

    private void lead(Changelog changelog) {
        role = ReplicaRole.TAKING_OVER;
        LOG.atInfo().addKeyValue("instance", context.settings().instance()).log("taking over");
        try (ActiveTerm term = ActiveTerm.begin(context, counters, changelog, this::mustStop)) {
            try {
                act(term);
            } finally {
                // Before the clients are closed, so that the next active replica does not wait for that.
                releaseLeadership();
            }
        } finally {
            leadership.endActing();
        }
    }

    private void act(ActiveTerm term) {
        if (mustStop()) {
            return;
        }
        activeAddress = context.settings().grpcAddress();
        try {
            context.projection().activated(context.clock().instant());
            role = ReplicaRole.ACTIVE;
            LOG.atInfo().addKeyValue("instance", context.settings().instance()).log("active");
            term.run(this::mustStop);
        } finally {
            role = ReplicaRole.STARTING;
            context.projection().deactivated();
        }
    }

    private void releaseLeadership() {
        role = ReplicaRole.STARTING;
        leadership.endActing();
        if (stopping() && election != null) {
            election.close();
        }
    }

    private boolean mustStop() {
        return stopping() || !leadership.held();
    }

    private boolean stopping() {
        return closing.getCount() == 0;
    }

    private void checkElection() {
        if (election != null) {
            election.failure().ifPresent(line -> {
                throw new ProjectionStoppedException(line);
            });
        }
    }

    /** Handles a failure. The state may be ahead of the log, so the caller restarts with an empty one. */
    private void recover(RuntimeException failed) {
        if (stopping()) {
            return;
        }
        lastError = String.valueOf(failed.getMessage());
        boolean fenced = fenced(failed);
        LOG.atWarn()
                .addKeyValue("fenced", fenced)
                .addKeyValue("error", failed.toString())
                .log("restoring state from the changelog");
        if (fenced && election != null) {
            election.rejoin();
        }
        checkElection();
        backOff();
    }

    private static boolean fenced(Throwable failed) {
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProducerFencedException || cause instanceof InvalidProducerEpochException) {
                return true;
            }
        }
        return false;
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

    /** Commits the offsets, stops acting and leaves the group; returns within 10 s. */
    @Override
    public void close() {
        closing.countDown();
        try {
            if (!thread.join(Duration.ofSeconds(10))) {
                LOG.atWarn().log("projection did not stop within 10 s");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
