package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.FleetParts;

/** What a drill does to a part of the fleet. */
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
    FREEZE("frozen");

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
            case AWAY, AWAY_AT_START, FREEZE -> true;
            case KILL, RESTART -> false;
        };
    }

    void begin(FleetParts parts, String part) {
        switch (this) {
            case KILL -> parts.kill(part);
            case RESTART, AWAY -> parts.stop(part);
            case AWAY_AT_START -> {
                parts.stop(part);
                parts.relaunchServices();
            }
            case FREEZE -> parts.freeze(part);
        }
    }

    void end(FleetParts parts, String part) {
        switch (this) {
            case KILL, RESTART, AWAY, AWAY_AT_START -> parts.start(part);
            case FREEZE -> parts.thaw(part);
        }
    }
}
