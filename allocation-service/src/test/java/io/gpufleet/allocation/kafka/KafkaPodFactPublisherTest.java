package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Pod facts are sent while the lease is held. */
class KafkaPodFactPublisherTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    private final ActiveLease active = new ActiveLease();
    private final List<EventDraft> sent = new ArrayList<>();
    private final KafkaPodFactPublisher publisher = new KafkaPodFactPublisher(
            event -> {
                sent.add(event);
                return CompletableFuture.failedStage(new IllegalStateException("broker is away"));
            },
            active,
            Clock.fixed(NOW, ZoneOffset.UTC));

    private static ObservedPod pod() {
        var constraints = new SchedulingConstraints(Map.of(), List.of(), "n1");
        var gpuPod = new GpuPod("ml", "train-0", "", "uid-0", true, Instant.MIN, constraints, List.of());
        return new ObservedPod(gpuPod, "Succeeded", NOW.minusSeconds(5), "Job/train", Map.of("team", "vision"));
    }

    @Test
    void factWithoutTheLeaseIsNotSent() {
        assertThat(publisher.publish(pod(), false)).isFalse();
        assertThat(sent).isEmpty();
    }

    @Test
    void factIsSentUnderTheNodeOfThePodAndIsTakenEvenIfItIsLost() {
        active.begin(() -> true);
        // When
        assertThat(publisher.publish(pod(), true)).isTrue();
        // Then
        assertThat(sent).singleElement().satisfies(event -> {
            assertThat(event.topic()).isEqualTo(Topic.SIGNALS);
            assertThat(event.key()).isEqualTo("n1");
            assertThat(((KubernetesFact) event.payload()).getPod().getDeleted()).isTrue();
        });
    }
}
