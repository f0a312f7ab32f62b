package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.app.CommandSink;
import io.gpufleet.health.app.SignalSink;
import io.gpufleet.health.app.drain.DrainSink;
import io.gpufleet.health.app.remediation.RemediationProgressSink;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.DrainReported;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.NodePlacement;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.proto.signal.v1.OverrideObserved;
import io.gpufleet.proto.signal.v1.PatchResult;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.sender.EventSender;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TraceParent;
import java.time.Clock;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Appends to {@code gpu.signals}. */
public final class SignalSender implements SignalSink, CommandSink, DrainSink, RemediationProgressSink {
    private static final Logger LOG = LoggerFactory.getLogger(SignalSender.class);

    private final EventSender sender;
    private final Clock clock;

    /** Sends through the sender, which the caller closes. */
    public SignalSender(EventSender sender, Clock clock) {
        this.sender = sender;
        this.clock = clock;
    }

    @Override
    public CompletionStage<Void> nodeObserved(String node, ObservedNode.NodeFacts facts) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder()
                                .setUid(facts.uid())
                                .setBootId(facts.bootId())
                                .setReady(facts.ready())
                                .setUnschedulable(facts.unschedulable())
                                .setManaged(facts.managed())
                                .setPlacement(NodePlacement.newBuilder()
                                        .putAllLabels(facts.placement().labels())
                                        .setUsable(facts.placement().usable())
                                        .setNotReady(facts.notReady()))));
    }

    @Override
    public CompletionStage<Void> nodeDeleted(String node, String uid) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid(uid)));
    }

    @Override
    public CompletionStage<Void> overrideObserved(String node, String target, String by, long revision) {
        return observed(node, overrideFact(target, by, revision));
    }

    static KubernetesFact.Builder overrideFact(String target, String by, long revision) {
        return KubernetesFact.newBuilder()
                .setOverride(OverrideObserved.newBuilder()
                        .setTarget(target)
                        .setBy(by)
                        .setRevision(revision));
    }

    @Override
    public CompletionStage<Void> nodePatched(String node, PatchOutcome outcome) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setPatch(PatchResult.newBuilder()
                                .setRevision(outcome.revision())
                                .setTarget(outcome.target())
                                .setSucceeded(outcome.succeeded())
                                .setError(TextLimits.text(outcome.error()))
                                .setNodeUid(outcome.nodeUid())));
    }

    @Override
    public CompletionStage<Void> drainReported(String node, Report report) {
        return observed(node, drainFact(report));
    }

    static KubernetesFact.Builder drainFact(Report report) {
        return KubernetesFact.newBuilder()
                .setDrain(DrainReported.newBuilder()
                        .setNodeUid(report.nodeUid())
                        .setPhase(DrainMapper.toWire(report.phase()))
                        .addAllJobs(report.jobs())
                        .setMessage(TextLimits.text(report.message())));
    }

    @Override
    public CompletionStage<Void> remediationReported(
            String node, Remediation remediation, RemediationProgress.Phase phase, String message) {
        return observed(
                node,
                KubernetesFact.newBuilder().setRemediation(RemediationMapper.toWire(remediation, phase, message)));
    }

    @Override
    public CompletionStage<Void> commandIssued(IssuedCommand issued) {
        var payload = OperatorCommand.newBuilder()
                .setCommand(
                        switch (issued.command()) {
                            case QUARANTINE -> Command.COMMAND_QUARANTINE;
                            case RELEASE -> Command.COMMAND_RELEASE;
                            case RETIRE -> Command.COMMAND_RETIRE;
                            case CLEAR -> Command.COMMAND_CLEAR;
                            case FORGET -> Command.COMMAND_FORGET;
                            case RESET_BRAKE -> Command.COMMAND_RESET_BRAKE;
                            case BEGIN_MAINTENANCE -> Command.COMMAND_BEGIN_MAINTENANCE;
                            case END_MAINTENANCE -> Command.COMMAND_END_MAINTENANCE;
                            case FREEZE -> Command.COMMAND_FREEZE;
                            case UNFREEZE -> Command.COMMAND_UNFREEZE;
                        })
                .setDeviceUuid(issued.device())
                .setUser(issued.user())
                .setReason(TextLimits.text(issued.reason()))
                .build();
        return sender.send(new Outbound.Event(
                Topic.SIGNALS,
                EventType.COMMAND_ISSUED,
                issued.node(),
                payload,
                "",
                clock.instant(),
                TraceParent.ofRequest(issued.traceparent())));
    }

    private CompletionStage<Void> observed(String node, KubernetesFact.Builder fact) {
        return send(node, EventType.KUBERNETES_OBSERVED, fact.build()).whenComplete((_, failed) -> {
            if (failed != null) {
                LOG.atWarn()
                        .addKeyValue("node", node)
                        .addKeyValue("fact", fact.getFactCase())
                        .addKeyValue("error", failed.toString())
                        .log("observation not sent");
            }
        });
    }

    private CompletionStage<Void> send(String node, EventType type, Message payload) {
        return sender.send(Outbound.Event.of(Topic.SIGNALS, type, node, payload, clock.instant()));
    }
}
