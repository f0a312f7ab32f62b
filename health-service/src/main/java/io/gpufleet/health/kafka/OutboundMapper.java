package io.gpufleet.health.kafka;

import io.gpufleet.health.model.Conclusion;
import io.gpufleet.health.model.Conclusion.Effect;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.HolderAtFault;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.health.v1.Outcome;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.fold.Outbound;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Conclusions to what is written in the transaction of the batch. */
final class OutboundMapper {
    private OutboundMapper() {}

    /** Verdict and decisions, and the changelog record where the state changed. */
    static List<Outbound.Event> toWire(Conclusion conclusion, Instant now) {
        String node = conclusion.state().node();
        var out = new ArrayList<Outbound.Event>();
        for (Effect effect : conclusion.effects()) {
            switch (effect) {
                case Effect.Publish(Verdict verdict) ->
                    out.add(Outbound.Event.of(Topic.VERDICTS, EventType.VERDICT_REACHED, node, toWire(verdict), now));
                case Effect.PutOnRecord(Decision decision) ->
                    out.add(Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, node, toWire(decision), now)
                            .about(decision.device()));
            }
        }
        if (!conclusion.events().isEmpty()) {
            out.add(Outbound.Event.of(
                    Topic.HEALTH_STATE, EventType.HEALTH_CHANGED, node, StateMapper.toWire(conclusion.state()), now));
        }
        return out;
    }

    static NodeVerdict toWire(Verdict verdict) {
        var wire = NodeVerdict.newBuilder()
                .setRevision(verdict.revision())
                .setNodeUid(verdict.nodeUid())
                .setBootId(verdict.bootId())
                .setSurvivesBoot(verdict.survivesBoot())
                .setState(Words.toWire(verdict.standing().state()))
                .setSince(Times.toWire(verdict.standing().since()))
                .setReason(verdict.standing().reason())
                .setNextStep(Words.toWire(verdict.standing().step()))
                .setTrusted(verdict.trusted())
                .addAllEvidence(verdict.evidence());
        verdict.devices()
                .forEach(device -> wire.addDevices(DeviceVerdict.newBuilder()
                        .setDeviceUuid(device.uuid())
                        .setState(Words.toWire(device.state()))
                        .setSince(Times.toWire(device.since()))
                        .setReason(device.reason())
                        .setNextStep(Words.toWire(device.step()))
                        .setTrusted(device.trusted())));
        return wire.build();
    }

    private static DecisionTaken toWire(Decision decision) {
        var wire = DecisionTaken.newBuilder()
                .setDeviceUuid(decision.device())
                .addAllEvidence(decision.evidence())
                .setRule(decision.rule())
                .setFrom(Words.toWire(decision.from()))
                .setTo(Words.toWire(decision.to()))
                .setAction(decision.action())
                .setOutcome(
                        switch (decision.outcome()) {
                            case ACTED -> Outcome.OUTCOME_ACTED;
                            case RECORDED -> Outcome.OUTCOME_RECORDED;
                            case STALE -> Outcome.OUTCOME_STALE;
                            case OVERRIDDEN -> Outcome.OUTCOME_OVERRIDDEN;
                        })
                .setReason(decision.reason())
                .setVerdictRevision(decision.revision());
        decision.holders()
                .forEach(holder -> wire.addHolders(HolderAtFault.newBuilder()
                        .setNamespace(holder.namespace())
                        .setPod(holder.pod())
                        .setPodUid(holder.podUid())
                        .setContainer(holder.container())));
        return wire.build();
    }
}
