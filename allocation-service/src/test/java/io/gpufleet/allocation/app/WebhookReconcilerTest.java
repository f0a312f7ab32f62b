package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Certificate, listener and registration of the webhook. */
class WebhookReconcilerTest {
    private static final ServingCertificate CERTIFICATE = certificate("certificate");

    private final Deque<CertificateSource> certificates = new ArrayDeque<>();
    private final List<ServingCertificate> opened = new ArrayList<>();
    private final List<String> registered = new ArrayList<>();
    private boolean leader;
    private final WebhookReconciler reconciler = new WebhookReconciler(
            () -> certificates.isEmpty()
                    ? Optional.of(CERTIFICATE)
                    : certificates.removeFirst().obtain(),
            opened::add,
            registered::add,
            () -> leader);

    private static ServingCertificate certificate(String pem) {
        return new ServingCertificate(
                "ca", pem, "key", "proof", new ServingCertificate.ReplicaCertificate("replica", "key"));
    }

    @Test
    void failedCertificateIsRetried() {
        certificates.add(() -> {
            throw new ApiServerException("the API server is unavailable");
        });
        certificates.add(() -> {
            throw new IllegalStateException("unexpected");
        });
        certificates.add(Optional::empty);
        // When
        for (int i = 0; i < 3; i++) {
            reconciler.reconcile();
            assertThat(opened).isEmpty();
            assertThat(reconciler.readinessFailures()).hasSize(1);
        }
        reconciler.reconcile();
        // Then
        assertThat(opened).containsExactly(CERTIFICATE);
        assertThat(reconciler.readinessFailures()).isEmpty();
    }

    @Test
    void portInUseIsTheReasonForNotBeingReady() {
        var taken = new WebhookReconciler(
                () -> Optional.of(CERTIFICATE),
                certificate -> {
                    throw new IllegalStateException("GPUFLEET_WEBHOOK_PORT=8443 is in use");
                },
                registered::add,
                () -> true);
        assertThat(taken.readinessFailures()).containsExactly("webhook has no certificate yet");
        taken.reconcile();
        assertThat(taken.readinessFailures())
                .containsExactly("webhook does not listen yet: GPUFLEET_WEBHOOK_PORT=8443 is in use");
        assertThat(registered).isEmpty();
    }

    @Test
    void listenerIsOpenedOnce() {
        reconciler.reconcile();
        reconciler.reconcile();
        assertThat(opened).hasSize(1);
    }

    @Test
    void renewedCertificateReachesTheListenerWithinAMinute() {
        var renewed = certificate("renewed");
        reconciler.reconcile();
        certificates.add(() -> Optional.of(renewed));
        // When
        for (int round = 0; round < 30; round++) {
            reconciler.reconcile();
        }
        // Then
        assertThat(opened).containsExactly(CERTIFICATE, renewed);
    }

    @Test
    void onlyTheLeaderRegistersTheWebhook() {
        reconciler.reconcile();
        assertThat(registered).isEmpty();
        // When
        leader = true;
        reconciler.reconcile();
        reconciler.reconcile();
        // Then
        assertThat(registered).containsExactly("ca", "ca");
    }

    @Test
    void newLeaderRegistersTheWebhookWithoutWaitingForTheNextRound() {
        reconciler.tick();
        assertThat(registered).isEmpty();
        // When
        leader = true;
        reconciler.tick();
        // Then
        assertThat(registered).hasSize(1);
        // And later every 2 s
        for (int i = 0; i < WebhookReconciler.TICKS_PER_ROUND; i++) {
            reconciler.tick();
        }
        assertThat(registered).hasSize(2);
    }
}
