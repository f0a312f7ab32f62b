package io.gpufleet.allocation.app;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Obtains the webhook's certificate, opens the listener with it once, and keeps the webhook registered while this
 * replica is the leader. Retries every 2 s.
 */
public final class WebhookReconciler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookReconciler.class);
    private static final long RETRY_SECONDS = 2;

    private final CertificateSource certificates;
    private final Consumer<ServingCertificate> listener;
    private final WebhookRegistrar registrar;
    private final BooleanSupplier isLeader;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("webhook-reconciler").daemon().factory());
    private volatile @Nullable ServingCertificate serving;
    private volatile String failure = "webhook has no certificate yet";

    /** A reconciler that is not started; {@code listener} opens the server and throws where it cannot. */
    WebhookReconciler(
            CertificateSource certificates,
            Consumer<ServingCertificate> listener,
            WebhookRegistrar registrar,
            BooleanSupplier isLeader) {
        this.certificates = certificates;
        this.listener = listener;
        this.registrar = registrar;
        this.isLeader = isLeader;
    }

    /** Starts the thread, which runs until it is closed; {@code listener} opens the server. */
    public static WebhookReconciler start(
            CertificateSource certificates,
            Consumer<ServingCertificate> listener,
            WebhookRegistrar registrar,
            BooleanSupplier isLeader) {
        var reconciler = new WebhookReconciler(certificates, listener, registrar, isLeader);
        var ignored =
                reconciler.timer.scheduleWithFixedDelay(reconciler::reconcile, 0, RETRY_SECONDS, TimeUnit.SECONDS);
        return reconciler;
    }

    void reconcile() {
        try {
            if (serving == null) {
                certificates.obtain().ifPresent(this::open);
            }
            ServingCertificate certificate = serving;
            if (certificate != null && isLeader.getAsBoolean()) {
                registrar.ensure(certificate.caPem());
            }
        } catch (ApiServerException | RuntimeException failed) {
            failure = "webhook does not listen yet: " + failed.getMessage();
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("webhook not registered yet, retrying");
        }
    }

    private void open(ServingCertificate certificate) {
        listener.accept(certificate);
        serving = certificate;
    }

    /** Why the webhook does not serve yet; empty when it does. */
    public List<String> readinessFailures() {
        return serving == null ? List.of(failure) : List.of();
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
