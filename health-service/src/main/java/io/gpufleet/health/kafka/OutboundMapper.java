package io.gpufleet.health.kafka;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.DecisionResult.Effect;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.HolderAtFault;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.health.v1.Outcome;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Maps decision results to records. */
final class OutboundMapper {
    private OutboundMapper() {}

    /**
     * Verdict and decisions.
     *
     * @param traceparent trace of the fact that caused them, or empty
     */
    static List<Outbound.Event> toWire(DecisionResult result, Instant now, String traceparent) {
        String node = result.state().node().name();
        var out = new ArrayList<Outbound.Event>();
        for (Effect effect : result.effects()) {
            switch (effect) {
                case Effect.PublishVerdict(Verdict verdict) ->
                    out.add(new Outbound.Event(
                            Topic.VERDICTS, EventType.VERDICT_REACHED, node, toWire(verdict), "", now, traceparent));
                case Effect.RecordDecision(Decision decision) ->
                    out.add(new Outbound.Event(
                            Topic.DECISIONS,
                            EventType.DECISION_TAKEN,
                            node,
                            toWire(decision),
                            decision.device(),
                            now,
                            traceparent));
            }
        }
        return out;
    }

    static NodeVerdict toWire(Verdict verdict) {
        var wire = NodeVerdict.newBuilder()
                .setRevision(verdict.revision())
                .setNodeUid(verdict.node().uid())
                .setBootId(verdict.bootId())
                .setSurvivesBoot(verdict.survivesBoot())
                .setState(EnumMapping.toWire(verdict.health().state()))
                .setSince(TimestampMapping.toWire(verdict.health().since()))
                .setReason(verdict.health().reason())
                .setRecommendedAction(EnumMapping.toWire(verdict.health().recommendedAction()))
                .setTrusted(verdict.trusted())
                .setWithdrawsEveryDevice(verdict.withdrawsEveryDevice())
                .addAllEvidence(verdict.evidence());
        verdict.devices()
                .forEach(device -> wire.addDevices(DeviceVerdict.newBuilder()
                        .setDeviceUuid(device.uuid())
                        .setState(EnumMapping.toWire(device.state()))
                        .setSince(TimestampMapping.toWire(device.since()))
                        .setReason(device.reason())
                        .setRecommendedAction(EnumMapping.toWire(device.recommendedAction()))
                        .setTrusted(device.trusted())));
        return wire.build();
    }

    private static DecisionTaken toWire(Decision decision) {
        var wire = DecisionTaken.newBuilder()
                .setDeviceUuid(decision.device())
                .addAllEvidence(decision.evidence())
                .setRule(decision.rule())
                .setFrom(EnumMapping.toWire(decision.transition().from()))
                .setTo(EnumMapping.toWire(decision.transition().to()))
                .setAction(decision.action())
                .setOutcome(
                        switch (decision.outcome().status()) {
                            case ACTED -> Outcome.OUTCOME_ACTED;
                            case RECORDED -> Outcome.OUTCOME_RECORDED;
                            case STALE -> Outcome.OUTCOME_STALE;
                            case OVERRIDDEN -> Outcome.OUTCOME_OVERRIDDEN;
                            case OVER_BUDGET -> Outcome.OUTCOME_OVER_BUDGET;
                            case OBSERVED -> Outcome.OUTCOME_OBSERVED;
                        })
                .setReason(decision.outcome().reason())
                .setBudget(decision.outcome().budget())
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
