package io.gpufleet.wire.fold;

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
 * Runs one fold: standby, take-over, active, and back, until it is closed. One thread calls the folder. Trouble with
 * the broker is waited out; a changelog that can not be read ends it with {@link #failure()}.
 */
public final class FoldEngine implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FoldEngine.class);
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final FoldParts parts;
    private final Tally tally = new Tally();
    private final Mandate mandate = new Mandate();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private @Nullable Election election;
    private volatile Role role = Role.STARTING;
    private volatile String trouble = "";
    private volatile String activeAddress = "";
    private volatile @Nullable String failure;

    private FoldEngine(FoldParts parts) {
        this.parts = parts;
        // A plain thread: the selector of Kafka's clients pins a virtual one (decision 0001).
        this.thread =
                Thread.ofPlatform().name(parts.settings().service() + "-fold").unstarted(this::run);
    }

    /** Starts and returns at once; a broker that does not answer yet is waited for. */
    public static FoldEngine start(FoldSettings settings, Codec codec, Folder folder, Clock clock) {
        var engine = new FoldEngine(new FoldParts(settings, codec, folder, clock));
        engine.thread.start();
        return engine;
    }

    /** What this replica does now. */
    public Role role() {
        return role;
    }

    /** Why this replica should not get work yet, a line for each reason; empty when it is ready (also as a standby). */
    public List<String> notReady() {
        String changelog = parts.codec().topics().name(parts.folder().changelog());
        String why = trouble.isEmpty() ? "" : ": " + trouble;
        return switch (role) {
            case STARTING -> List.of("own changelog " + changelog + " is being read" + why);
            case TAKING_OVER -> List.of("taking over as the active replica" + why);
            case STANDBY, ACTIVE -> List.of();
            case STOPPED -> List.of(failure().orElse("stopped"));
        };
    }

    /** Why the fold ended by itself, one line; a process that sees it should say so and end. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    /** host:port of the active replica's gRPC server, as the log tells; empty while unknown. */
    public String activeAddress() {
        return activeAddress;
    }

    /** What was counted so far. */
    public FoldCounters counters() {
        return tally.read();
    }

    private void run() {
        try {
            while (!stopping()) {
                serve();
            }
        } catch (FoldStoppedException stopped) {
            failure = stopped.getMessage();
            LOG.atError().addKeyValue("reason", stopped.getMessage()).log("the fold can not go on");
        } catch (Error broken) {
            failure = "the fold ended by " + broken;
            throw broken;
        } finally {
            role = Role.STOPPED;
            if (election != null) {
                election.close();
            }
        }
    }

    /** From an empty state to the end of a term, or to the first trouble. */
    private void serve() {
        role = Role.STARTING;
        try (Changelog changelog = Changelog.open(parts)) {
            changelog.catchUp(this::stopping);
            if (election == null && !stopping()) {
                election = Election.start(parts, parts.codec().topics().name(Topic.ELECTION), mandate);
            }
            trouble = "";
            role = stopping() ? Role.STARTING : Role.STANDBY;
            while (!stopping() && !mandate.held()) {
                activeAddress = changelog.active().getGrpcAddress();
                changelog.follow();
                checkElection();
            }
            if (!stopping() && mandate.begin()) {
                lead(changelog);
            }
        } catch (FoldStoppedException stopped) {
            throw stopped;
        } catch (RuntimeException failed) {
            recover(failed);
        }
    }

    private void lead(Changelog changelog) {
        role = Role.TAKING_OVER;
        LOG.atInfo().addKeyValue("instance", parts.settings().instance()).log("taking over");
        try (ActiveTerm term = ActiveTerm.begin(parts, tally, changelog, this::unwanted)) {
            try {
                act(term);
            } finally {
                // Before the clients are closed, which takes its time: the next one need not wait for that.
                giveWay();
            }
        } finally {
            mandate.end();
        }
    }

    private void act(ActiveTerm term) {
        if (unwanted()) {
            return;
        }
        activeAddress = parts.settings().grpcAddress();
        try {
            parts.folder().activated(parts.clock().instant());
            role = Role.ACTIVE;
            LOG.atInfo().addKeyValue("instance", parts.settings().instance()).log("active");
            term.run(this::unwanted);
        } finally {
            role = Role.STARTING;
            parts.folder().deactivated();
        }
    }

    private void giveWay() {
        role = Role.STARTING;
        mandate.end();
        if (stopping() && election != null) {
            election.close();
        }
    }

    private boolean unwanted() {
        return stopping() || !mandate.held();
    }

    private boolean stopping() {
        return closing.getCount() == 0;
    }

    private void checkElection() {
        if (election != null) {
            election.failure().ifPresent(line -> {
                throw new FoldStoppedException(line);
            });
        }
    }

    /** After any failure the state may be ahead of the log: the caller starts from an empty one. */
    private void recover(RuntimeException failed) {
        if (stopping()) {
            return;
        }
        trouble = String.valueOf(failed.getMessage());
        boolean fenced = fenced(failed);
        LOG.atWarn()
                .addKeyValue("fenced", fenced)
                .addKeyValue("error", failed.toString())
                .log("restoring the state anew");
        if (fenced && election != null) {
            election.renew();
        }
        checkElection();
        pause();
    }

    private static boolean fenced(Throwable failed) {
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProducerFencedException || cause instanceof InvalidProducerEpochException) {
                return true;
            }
        }
        return false;
    }

    private void pause() {
        try {
            if (closing.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atDebug().log("closing while waiting for the broker");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Keeps the positions, stops acting, leaves the group; returns within 10 s. */
    @Override
    public void close() {
        closing.countDown();
        try {
            if (!thread.join(Duration.ofSeconds(10))) {
                LOG.atWarn().log("the fold did not end within 10 s");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
