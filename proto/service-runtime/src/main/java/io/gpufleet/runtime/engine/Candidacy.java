package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.Leadership;
import io.gpufleet.runtime.leadership.Resignation;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Candidacy of this replica: it stands for election, or leaves leading to another one. Of the engine's thread, but for the reasons. */
final class Candidacy implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Candidacy.class);
    private static final int FAILED_TERMS = 3;

    private final EngineParts<?> parts;
    private final EngineContext context;
    private final Leadership leadership;
    private final Resignation resignation = new Resignation(FAILED_TERMS);
    private volatile @Nullable Election election;

    /** One that does not stand yet; leadership is granted and revoked once it does. */
    Candidacy(EngineParts<?> parts, EngineContext context, Leadership leadership) {
        this.parts = parts;
        this.context = context;
        this.leadership = leadership;
    }

    /** Stands from now on. */
    void stand() {
        if (election == null) {
            election = Election.start(parts, parts.codec().topics().name(Topic.ELECTION), leadership);
        }
    }

    /** Stands while the states are still read: joining takes some seconds, and nobody leads better meanwhile. */
    void standWithoutRival(Admin admin) {
        if (election == null && Election.withoutRival(parts, admin)) {
            stand();
        }
    }

    /** Throws where it can never stand. */
    void check() {
        if (election != null) {
            election.failure().ifPresent(line -> {
                throw new ProjectionStoppedException(line);
            });
        }
    }

    /** A term committed something beyond its announcement. */
    void productive() {
        resignation.productive();
    }

    /** Another replica leads with success. */
    void anotherLeads() {
        resignation.anotherLeads();
    }

    /** Joins anew after another replica has fenced this one, and resigns where one term too many committed nothing. */
    void failed(String reason, boolean fenced, boolean led) {
        Election standing = election;
        if (standing != null && fenced) {
            standing.rejoin();
        } else if (standing != null && led) {
            resignation.failed(reason).ifPresent(absence -> resign(standing, absence, reason));
        }
    }

    private void resign(Election standing, Duration absence, String reason) {
        context.counting().resignations.incrementAndGet();
        LOG.atError()
                .addKeyValue("seconds", absence.toSeconds())
                .addKeyValue("error", reason)
                .log("resigning: three terms in a row committed nothing");
        standing.resign(absence);
    }

    /** Why this replica cannot lead now, a line for each reason. */
    List<String> readinessFailures() {
        List<String> lines = new ArrayList<>();
        Election standing = election;
        if (standing != null && !standing.trouble().isEmpty()) {
            lines.add("cannot stand for election: " + standing.trouble());
        }
        lines.addAll(resignation.reasons());
        return lines;
    }

    /** Leaves the group for good. */
    @Override
    public void close() {
        if (election != null) {
            election.close();
        }
    }
}
