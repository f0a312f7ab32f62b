package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.app.SignalSink;
import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.MarkRemoved;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.OperatorWord;
import io.gpufleet.proto.signal.v1.PatchResult;
import io.gpufleet.proto.signal.v1.Word;
import io.gpufleet.wire.EventSender;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.fold.Outbound;
import java.time.Clock;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Appends to {@code gpu.signals}. */
public final class SignalSender implements SignalSink {
    private static final Logger LOG = LoggerFactory.getLogger(SignalSender.class);

    private final EventSender sender;
    private final Clock clock;

    /** Sends through the sender, which stays the caller's to close. */
    public SignalSender(EventSender sender, Clock clock) {
        this.sender = sender;
        this.clock = clock;
    }

    @Override
    public CompletionStage<Void> nodeSeen(String node, FoundNode.Facts facts) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder()
                                .setUid(facts.uid())
                                .setBootId(facts.bootId())
                                .setReady(facts.ready())
                                .setUnschedulable(facts.unschedulable())
                                .setManaged(facts.managed())));
    }

    @Override
    public CompletionStage<Void> nodeGone(String node, String uid) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid(uid)));
    }

    @Override
    public CompletionStage<Void> markRemoved(String node, String mark, String by, long revision) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setMarkRemoved(
                                MarkRemoved.newBuilder().setMark(mark).setBy(by).setRevision(revision)));
    }

    @Override
    public CompletionStage<Void> patched(String node, Patched result) {
        return observed(
                node,
                KubernetesFact.newBuilder()
                        .setPatch(PatchResult.newBuilder()
                                .setRevision(result.revision())
                                .setWhat(result.what())
                                .setSucceeded(result.succeeded())
                                .setError(Words.atMost(512, result.error()))
                                .setNodeUid(result.nodeUid())));
    }

    @Override
    public CompletionStage<Void> spoke(String node, String device, HealthSignal.Word word, String user, String reason) {
        var payload = OperatorWord.newBuilder()
                .setWord(
                        switch (word) {
                            case QUARANTINE -> Word.WORD_QUARANTINE;
                            case RELEASE -> Word.WORD_RELEASE;
                            case RETIRE -> Word.WORD_RETIRE;
                        })
                .setDeviceUuid(device)
                .setUser(user)
                .setReason(Words.atMost(512, reason))
                .build();
        return send(node, EventType.OPERATOR_SPOKE, payload);
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
