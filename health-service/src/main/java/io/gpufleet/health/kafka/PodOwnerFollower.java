package io.gpufleet.health.kafka;

import io.gpufleet.health.app.PodOwners;
import io.gpufleet.health.model.HealthSignal.Holder;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.runtime.follower.TopicFollower;
import io.gpufleet.runtime.follower.TopicListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;

/** Reads what the allocation-service tells of pods on {@code gpu.signals} into {@link PodOwners}. */
public final class PodOwnerFollower implements TopicListener {
    /** A pod is told of when it starts: the owner of one that started earlier is not known after a start of the service. */
    private static final Duration SINCE = Duration.ofDays(7);

    private final PodOwners owners;

    PodOwnerFollower(PodOwners owners) {
        this.owners = owners;
    }

    /** Starts the thread, which reads until it is closed and starts over after a failure. */
    public static TopicFollower start(KafkaClients kafka, Codec codec, PodOwners owners, Clock clock) {
        var followed = new TopicFollower.Followed(Topic.SIGNALS, SINCE, "health-service");
        return TopicFollower.start(kafka, codec, followed, new PodOwnerFollower(owners), clock);
    }

    @Override
    public void started() {
        owners.clear();
    }

    @Override
    public void event(DecodedRecord.Event event) {
        if (event.payload() instanceof KubernetesFact fact && fact.hasPod()) {
            PodFact pod = fact.getPod();
            owners.observed(
                    event.envelope().key(),
                    // As they are in a fact of the daemon.
                    new Holder(pod.getNamespace(), pod.getName(), pod.getUid(), ""),
                    TextLimits.text(pod.getOwner()));
        }
    }
}
