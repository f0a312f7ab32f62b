package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.app.PodFacts;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.wire.EventSender;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.fold.Outbound;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Pod facts onto {@code gpu.signals}, under the node that the pod ran on. */
public final class PodFactSender implements PodFacts {
    private static final Logger LOG = LoggerFactory.getLogger(PodFactSender.class);
    private static final int MAX_LABELS = 32;

    private final EventSender sender;
    private final Clock clock;

    /** Sends by an open sender, which stays its owner's. */
    public PodFactSender(EventSender sender, Clock clock) {
        this.sender = sender;
        this.clock = clock;
    }

    @Override
    public void tell(ObservedPod pod, boolean deleted) {
        Instant now = clock.instant();
        var fact = PodFact.newBuilder()
                .setNamespace(pod.ask().namespace())
                .setName(pod.ask().name())
                .setUid(pod.ask().uid())
                .setPhase(pod.phase())
                .setDeleted(deleted)
                .setOwner(pod.owner())
                .putAllLabels(pod.labels().entrySet().stream()
                        .sorted(Map.Entry.comparingByKey())
                        .limit(MAX_LABELS)
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
        Instant finished = pod.finishedAt();
        if (finished != null) {
            fact.setFinishedAt(LedgerMessages.time(finished));
        }
        var event = Outbound.Event.of(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                pod.ask().placement().nodeName(),
                KubernetesFact.newBuilder().setPod(fact).build(),
                finished == null ? now : finished);
        sender.send(event).whenComplete((_, failure) -> {
            if (failure != null) {
                LOG.atWarn()
                        .addKeyValue("pod", pod.ask().label())
                        .addKeyValue("error", failure.toString())
                        .log("end of a pod could not be told");
            }
        });
    }
}
