package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.app.PodFactPublisher;
import io.gpufleet.allocation.model.holding.PodLabels;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Publishes pod facts on {@code gpu.signals}, with the node of the pod as key. */
public final class KafkaPodFactPublisher implements PodFactPublisher {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaPodFactPublisher.class);

    private final Function<EventDraft, CompletionStage<Void>> send;
    private final ActiveLease active;
    private final Clock clock;

    /** Sends while the lease is held; {@code send} completes when the event is on the log. */
    public KafkaPodFactPublisher(Function<EventDraft, CompletionStage<Void>> send, ActiveLease active, Clock clock) {
        this.send = send;
        this.active = active;
        this.clock = clock;
    }

    @Override
    public boolean publish(ObservedPod pod, boolean deleted) {
        EventDraft event = event(pod, deleted);
        if (!active.held()) {
            return false;
        }
        send.apply(event).whenComplete((_, failure) -> {
            if (failure != null) {
                LOG.atWarn()
                        .addKeyValue("pod", pod.gpuPod().displayName())
                        .addKeyValue("error", failure.toString())
                        .log("pod fact not published");
            }
        });
        return true;
    }

    private EventDraft event(ObservedPod pod, boolean deleted) {
        Instant now = clock.instant();
        var fact = PodFact.newBuilder()
                .setNamespace(pod.gpuPod().namespace())
                .setName(pod.gpuPod().name())
                .setUid(pod.gpuPod().uid())
                .setPhase(pod.phase())
                .setDeleted(deleted)
                .setOwner(pod.owner())
                .putAllLabels(PodLabels.bounded(pod.labels()));
        Instant finished = pod.finishedAt();
        if (finished != null) {
            fact.setFinishedAt(LedgerMapper.time(finished));
        }
        return Outbound.Event.of(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                pod.gpuPod().constraints().nodeName(),
                KubernetesFact.newBuilder().setPod(fact).build(),
                finished == null ? now : finished);
    }
}
