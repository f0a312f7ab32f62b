package io.gpufleet.health.kafka;

import io.gpufleet.health.app.IncidentStore;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.Decision.StateTransition;
import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.incident.IncidentLog;
import io.gpufleet.health.model.incident.RecordedDecision;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.runtime.follower.TopicFollower;
import io.gpufleet.runtime.follower.TopicListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.util.Optional;

/** Reads {@code gpu.decisions} into the {@link IncidentStore}: what is kept of it at the start, then what is appended. */
public final class DecisionFollower implements TopicListener {
    private final IncidentStore store;

    DecisionFollower(IncidentStore store) {
        this.store = store;
    }

    /** Starts the thread, which reads until it is closed and starts over after a failure. */
    public static TopicFollower start(KafkaClients kafka, Codec codec, IncidentStore store, Clock clock) {
        var followed = new TopicFollower.Followed(Topic.DECISIONS, IncidentLog.RETENTION, "health-service");
        return TopicFollower.start(kafka, codec, followed, new DecisionFollower(store), clock);
    }

    @Override
    public void started() {
        store.clear();
    }

    @Override
    public void event(DecodedRecord.Event event) {
        if (event.payload() instanceof DecisionTaken taken) {
            toModel(taken)
                    .ifPresent(decision -> store.add(new RecordedDecision(
                            event.envelope().id().toString(), event.envelope().key(), event.appendedAt(), decision)));
        }
    }

    @Override
    public void loaded() {
        store.loaded();
    }

    /** A later release may have states that this one cannot show. */
    private static boolean known(HealthState state) {
        return state != HealthState.HEALTH_STATE_UNSPECIFIED && state != HealthState.UNRECOGNIZED;
    }

    /** The decision; empty for one with states that this release does not know. */
    static Optional<Decision> toModel(DecisionTaken taken) {
        return known(taken.getFrom()) && known(taken.getTo()) ? Optional.of(decision(taken)) : Optional.empty();
    }

    private static Decision decision(DecisionTaken taken) {
        return new Decision(
                taken.getDeviceUuid(),
                taken.getEvidenceList(),
                taken.getRule(),
                new StateTransition(EnumMapping.state(taken.getFrom()), EnumMapping.state(taken.getTo())),
                taken.getAction(),
                new Outcome(status(taken.getOutcome()), taken.getReason(), taken.getBudget()),
                taken.getHoldersList().stream()
                        .map(holder -> new HealthSignal.Holder(
                                holder.getNamespace(), holder.getPod(), holder.getPodUid(), holder.getContainer()))
                        .toList(),
                taken.getVerdictRevision());
    }

    private static Status status(io.gpufleet.proto.health.v1.Outcome outcome) {
        return switch (outcome) {
            case OUTCOME_ACTED -> Status.ACTED;
            case OUTCOME_STALE -> Status.STALE;
            case OUTCOME_OVERRIDDEN -> Status.OVERRIDDEN;
            case OUTCOME_OVER_BUDGET -> Status.OVER_BUDGET;
            case OUTCOME_OBSERVED -> Status.OBSERVED;
            case OUTCOME_RECORDED, OUTCOME_UNSPECIFIED, UNRECOGNIZED -> Status.RECORDED;
        };
    }
}
