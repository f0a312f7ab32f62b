package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.quota.TestQuotas;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** More reviews than are decided in time, pods that are never created, calls that hang. */
class AdmissionLoadTest extends TestQuotaReplicas {
    @Test
    void podsThatAreAdmittedAndNeverCreatedCauseFewLists() {
        enforce("A100", 10_000);
        Replica replica = active("r0");
        int lists = cluster.lists();
        // When
        for (int second = 0; second < 300; second++) {
            assertThat(replica.admits(1)).isTrue();
            advance(Duration.ofSeconds(1));
            replica.tick();
        }
        // Then
        assertThat(cluster.lists() - lists).isBetween(10, 24);
        assertThat(cluster.present("q").status().escrow().get("A100")).isLessThan(10_000);
    }

    @Test
    void reviewForWhichNobodyWaitsAnyMoreReservesNothing() {
        enforce("A100", 2);
        Replica replica = active("r0");
        // When the thread was held up for longer than the API server waits
        var late = replica.ask(a100Pod(2), false, before(Duration.ofSeconds(4)));
        replica.settle();
        // Then
        assertThat(late.join()).isInstanceOf(AdmissionDecision.Unavailable.class);
        assertThat(replica.admits(2)).isTrue();
    }

    @Test
    void callsThatHangBesideAdmissionDelayNoAnswer() {
        enforce("A100", 100);
        Replica replica = active("r0");
        replica.backgroundAnswered = false;
        for (int i = 0; i < 50; i++) {
            replica.observe(new QuotaEvent.NamespaceObserved("n" + i, Map.of(QuotaLeader.NAMESPACE_LABEL, "enforce")));
        }
        // When labels are to be written, and pods to be listed
        advance(Duration.ofMinutes(11));
        replica.tick();
        // Then
        assertThat(replica.backgroundCalls).hasSizeGreaterThan(50);
        assertThat(replica.admits(100)).isTrue();
    }

    @Test
    void namespaceThatFloodsTheWebhookIsToldToRetryAndOthersAreNot() {
        enforceEverywhere(2);
        Replica replica = active("r0");
        for (int i = 0; i < NamespaceRateLimit.BURST; i++) {
            assertThat(replica.decide(inNamespace(0), false)).isInstanceOf(AdmissionDecision.Admitted.class);
        }
        // When
        var flooding = replica.decide(inNamespace(0), false);
        // Then
        assertThat(flooding)
                .isEqualTo(new AdmissionDecision.Throttled(
                        "namespace n0 creates more than 100 pods with GPUs a second; retry in a second"));
        assertThat(replica.admits(inNamespace(1))).isTrue();
        advance(Duration.ofMillis(10));
        assertThat(replica.admits(inNamespace(0))).isTrue();
        assertThat(replica.admits(inNamespace(0))).isFalse();
    }

    @Test
    void quotaThatOnlyWarnsRefusesNoPodOfAFlood() {
        cluster.put(TestQuotas.quota("q", GpuQuota.Mode.WARN, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 9)));
        Replica replica = active("r0");
        for (int i = 0; i <= NamespaceRateLimit.BURST; i++) {
            assertThat(replica.admits(1)).isTrue();
        }
    }

    @Test
    void reservationsAreBoundedAndReleasedWhenTheirPodsAreNotCreated() {
        int namespaces = AdmissionProcessor.MAX_RESERVATIONS / NamespaceRateLimit.BURST;
        enforceEverywhere(namespaces + 1);
        Replica replica = active("r0");
        for (int i = 0; i < AdmissionProcessor.MAX_RESERVATIONS; i++) {
            assertThat(replica.ask(inNamespace(i % namespaces), false)).isNotNull();
            replica.settle();
        }
        // When
        var further = replica.decide(inNamespace(namespaces), false);
        // Then
        assertThat(further)
                .isEqualTo(new AdmissionDecision.Throttled(
                        "30000 pods were admitted and are not created yet; retry in a second"));
        advance(Duration.ofSeconds(71));
        replica.tick();
        assertThat(replica.admits(inNamespace(namespaces))).isTrue();
    }

    private void enforceEverywhere(int namespaces) {
        cluster.put(new GpuQuota(
                "q",
                "1",
                IntStream.range(0, namespaces).mapToObj(i -> "n" + i).collect(Collectors.toSet()),
                LabelSelector.NOTHING,
                List.of(new QuotaLimit("A100", 1_000_000)),
                GpuQuota.Mode.ENFORCE,
                GpuQuota.AmbiguousModel.DENY,
                QuotaStatus.NONE));
    }

    private GpuPod inNamespace(int number) {
        return in("n" + number, a100Pod(1));
    }
}
