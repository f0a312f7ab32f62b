package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.FleetPartControl;
import java.time.Duration;

/** Disturbance of a part of the fleet by a drill. */
public enum Disturbance {
    /** Ended by SIGKILL and started again at once, as a kubelet does. */
    KILL("killed by SIGKILL"),
    /** Ended by SIGTERM and started again. */
    RESTART("restarted"),
    /** A broker, ended by SIGTERM and started again after the time of the drill. */
    AWAY("away"),
    /** As {@link #AWAY}; meanwhile the services are killed, and start without it. */
    AWAY_AT_START("away, while every service starts"),
    /** Stopped by SIGSTOP for the time of the drill: connections stay open, and nobody answers. */
    FREEZE("frozen"),
    /** Stopped by SIGSTOP for four fifths of each second. */
    SLOW("slowed to a fifth"),
    /** No file of its can grow, as on a disk that is full; what ends by it is started again after the time. */
    DISK_FULL("without room on its disk"),
    /** The Secret with the certificate of the webhook is deleted. */
    SECRET_DELETED("without its Secret"),
    /** CA and certificate in that Secret are expired ones, and the service is killed, so that it reads them. */
    CERTIFICATE_EXPIRED("started with an expired certificate"),
    /** Started with a clock of its own, which jumps an hour ahead, and back after the time of the drill. */
    CLOCK_JUMP("an hour ahead by its clock"),
    /** The partition of a node in a topic has no leader for the time of the drill. */
    NO_LEADER("without a leader of the node's partition"),
    /** The webhook is asked 500 times a second. */
    REVIEWS("asked " + ReviewLoad.PER_SECOND + " times a second");

    private static final Duration JUMP = Duration.ofHours(1);

    private final String text;

    Disturbance(String text) {
        this.text = text;
    }

    /** As a participle. */
    public String text() {
        return text;
    }

    /** True where it lasts for the time of the drill. */
    boolean lasts() {
        return switch (this) {
            case AWAY, AWAY_AT_START, FREEZE, SLOW, DISK_FULL, CLOCK_JUMP, NO_LEADER, REVIEWS -> true;
            case KILL, RESTART, SECRET_DELETED, CERTIFICATE_EXPIRED -> false;
        };
    }

    Ongoing begin(FleetPartControl parts, DrillWebhook webhook, String part) {
        Ongoing startAgain = () -> parts.start(part);
        return switch (this) {
            case KILL -> {
                parts.kill(part);
                yield startAgain;
            }
            case RESTART -> {
                parts.stop(part);
                yield startAgain;
            }
            case AWAY -> AbsentBroker.begin(parts, part);
            case AWAY_AT_START -> {
                Ongoing absent = AbsentBroker.begin(parts, part);
                parts.relaunchServices();
                yield absent;
            }
            case FREEZE -> {
                parts.freeze(part);
                yield () -> parts.thaw(part);
            }
            case SLOW -> SlowPart.begin(parts, part);
            case DISK_FULL -> {
                parts.limitFiles(part);
                yield () -> {
                    parts.unlimitFiles(part);
                    parts.start(part);
                };
            }
            case SECRET_DELETED -> {
                webhook.deleteSecret();
                yield () -> {};
            }
            case CERTIFICATE_EXPIRED -> {
                webhook.expireCertificates();
                parts.kill(part);
                yield startAgain;
            }
            case CLOCK_JUMP -> ShiftedClock.jump(parts, part, JUMP);
            case NO_LEADER -> LeaderlessPartition.begin(parts, part);
            case REVIEWS -> ReviewLoad.begin(webhook);
        };
    }
}
