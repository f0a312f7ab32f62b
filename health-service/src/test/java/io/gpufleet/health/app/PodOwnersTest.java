package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Holder;
import org.junit.jupiter.api.Test;

/** Owners of pods as the service is told of them. */
class PodOwnersTest {
    private final PodOwners owners = new PodOwners();

    private static Holder pod(String name, String uid) {
        return new Holder("ml", name, uid, "main");
    }

    @Test
    void ownerOfAPodIsKnownOnItsNodeOnly() {
        owners.observed("node-1", pod("train-0", "uid-1"), "Job/train");

        assertThat(owners.of("node-1", pod("train-0", "uid-1"))).contains("Job/train");
        assertThat(owners.of("node-2", pod("train-0", "uid-1"))).isEmpty();
        assertThat(owners.of("node-1", pod("train-1", "uid-2"))).isEmpty();
    }

    @Test
    void podOfWhichTheDaemonKnowsNoUidIsKnownByItsName() {
        owners.observed("node-1", pod("train-0", "uid-1"), "Job/train");

        assertThat(owners.of("node-1", pod("train-0", ""))).contains("Job/train");
    }

    @Test
    void laterPodOfTheSameNameHasItsOwnOwner() {
        owners.observed("node-1", pod("train-0", "uid-1"), "Job/train");

        owners.observed("node-1", pod("train-0", "uid-2"), "StatefulSet/train");

        assertThat(owners.of("node-1", pod("train-0", "uid-2"))).contains("StatefulSet/train");
        assertThat(owners.of("node-1", pod("train-0", "uid-1"))).isEmpty();
    }

    @Test
    void podWithoutAnOwnerHasNotThatOfAFormerPodOfItsName() {
        owners.observed("node-1", pod("train-0", "uid-1"), "Job/train");

        owners.observed("node-1", pod("train-0", "uid-2"), "");

        assertThat(owners.of("node-1", pod("train-0", ""))).isEmpty();
    }

    @Test
    void oldestIsForgottenOnceThereAreTooMany() {
        for (int number = 0; number <= PodOwners.MAX_PODS; number++) {
            owners.observed("node-1", pod("train-" + number, ""), "Job/train");
        }

        assertThat(owners.of("node-1", pod("train-0", ""))).isEmpty();
        assertThat(owners.of("node-1", pod("train-1", ""))).contains("Job/train");
    }
}
