package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.FleetPartControl;

/** Disturbance of a part of the fleet by a drill. */
public enum Disturbance {
    /** Ended by SIGKILL and started again at once, as a kubelet does. */
    KILL("killed by SIGKILL"),
    /** Ended by SIGTERM and started again. */
    RESTART("restarted"),
    /** Ended by SIGTERM and started again after the time of the drill. */
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
    /** The webhook is asked 500 times a second. */
    REVIEWS("asked " + ReviewLoad.PER_SECOND + " times a second");

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
            case AWAY, AWAY_AT_START, FREEZE, SLOW, DISK_FULL, REVIEWS -> true;
            case KILL, RESTART, SECRET_DELETED, CERTIFICATE_EXPIRED -> false;
        };
    }

    Ongoing begin(FleetPartControl parts, FleetWebhook webhook, String part) {
        Ongoing startAgain = () -> parts.start(part);
        return switch (this) {
            case KILL -> {
                parts.kill(part);
                yield startAgain;
            }
            case RESTART, AWAY -> {
                parts.stop(part);
                yield startAgain;
            }
            case AWAY_AT_START -> {
                parts.stop(part);
                parts.relaunchServices();
                yield startAgain;
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
            case REVIEWS -> ReviewLoad.begin(webhook);
        };
    }
}
