package io.gpufleet.health.kafka;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.DaemonSilence;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.runtime.projection.Inbound;
import java.time.Duration;
import java.util.Optional;

/**
 * Silences of daemons, which no event tells: the service concluded them from the samples that it did not get, and recorded a
 * decision.
 */
final class RecordedSilence {
    private static final String SILENT = Decision.HEALTH_UNKNOWN + Presence.DAEMON_SILENT;

    private RecordedSilence() {}

    /** The begin or the end of a silence; empty for any other decision. */
    static Optional<HealthSignal> toModel(Inbound.Event event, DecisionTaken taken) {
        var metadata = new EventMetadata("", event.appendedAt(), Duration.ZERO);
        return switch (taken.getAction()) {
            case SILENT -> Optional.of(new DaemonSilence(metadata, true));
            case Decision.HEALTH_KNOWN -> Optional.of(new DaemonSilence(metadata, false));
            default -> Optional.empty();
        };
    }
}
