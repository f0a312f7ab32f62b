package io.gpufleet.health.model.fault;

import java.time.Instant;
import java.util.Collection;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * One fault from its first observation until it is cleared.
 *
 * @param code the fault
 * @param report what the daemon reports with it, newest
 * @param since append time of the first report
 * @param observations number of observations so far
 * @param reporter daemon that sent the newest report
 * @param eventId id of the event that opened it
 * @param acts false while every report was too old to act on: the fault is recorded only
 * @param restraint why it is suspect only for now
 */
public record Episode(
        FaultCode code,
        FaultReport report,
        Instant since,
        long observations,
        Reporter reporter,
        String eventId,
        boolean acts,
        SuspectReason restraint) {
    /**
     * A daemon.
     *
     * @param epoch its incarnation; 0 in states of former releases
     * @param forgotten true since a later one, which lost its state directory, knows nothing of what this one reported
     */
    public record Reporter(String bootId, long epoch, boolean forgotten) {
        /** One whose reports the present one knows. */
        public Reporter(String bootId, long epoch) {
            this(bootId, epoch, false);
        }
    }

    /** Boot of the newest report. */
    public String bootId() {
        return reporter.bootId();
    }

    /** Recovery action in the newest report. */
    public RecoveryAction action() {
        return report.action();
    }

    /** True while its daemon does not offer the device because of it. */
    public boolean withdrawnByNode() {
        return report.withdrawal().withdraws();
    }

    /** True while its grace lasts. */
    public boolean inGrace() {
        return restraint.grace();
    }

    /** True while its daemon cannot vouch for its end, since it lost its state directory after it reported the fault. */
    public boolean forgotten() {
        return reporter.forgotten();
    }

    /** Whether a daemon of this boot that knows nothing of what was reported before an epoch makes it a forgotten one. */
    public boolean becomesForgotten(String ofBoot, long knownSinceEpoch) {
        return !forgotten() && bootId().equals(ofBoot) && reporter.epoch() < knownSinceEpoch;
    }

    /** Copy that the present daemon has forgotten. */
    public Episode forgottenByDaemon() {
        return new Episode(
                code,
                report,
                since,
                observations,
                new Reporter(reporter.bootId(), reporter.epoch(), true),
                eventId,
                acts,
                restraint);
    }

    /** Copy with another restraint. */
    public Episode with(SuspectReason other) {
        return new Episode(code, report, since, observations, reporter, eventId, acts, other);
    }

    /** Episodes sorted by code; of several with one code, the last. */
    public static SequencedMap<FaultCode, Episode> byCode(Collection<Episode> episodes) {
        var sorted = new TreeMap<FaultCode, Episode>();
        episodes.forEach(episode -> sorted.put(episode.code(), episode));
        return sorted;
    }
}
