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
 * Obtains the webhook's certificate, hands it and each later one to the listener, and keeps the webhook registered while
 * this replica is the leader. Looks every 2 s, and at once when this replica begins to lead; asks for a renewed certificate
 * every minute.
 */
public final class WebhookReconciler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookReconciler.class);
    private static final long TICK_MILLIS = 250;
    static final int TICKS_PER_ROUND = 8;
    private static final long ROUNDS_PER_MINUTE = 60_000 / (TICK_MILLIS * TICKS_PER_ROUND);

    private final CertificateSource certificates;
    private final Consumer<ServingCertificate> listener;
    private final WebhookRegistrar registrar;
    private final BooleanSupplier isLeader;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("webhook-reconciler").daemon().factory());
    private volatile @Nullable ServingCertificate serving;
    private long roundsSinceObtained;
    private int ticks;
    private boolean led;
    private volatile String failure = "webhook has no certificate yet";

    /** A reconciler that is not started; {@code listener} serves a certificate and throws where it cannot. */
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

    /** Starts the thread, which runs until it is closed; {@code listener} serves a certificate. */
    public static WebhookReconciler start(
            CertificateSource certificates,
            Consumer<ServingCertificate> listener,
            WebhookRegistrar registrar,
            BooleanSupplier isLeader) {
        var reconciler = new WebhookReconciler(certificates, listener, registrar, isLeader);
        var _ = reconciler.timer.scheduleWithFixedDelay(reconciler::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
        return reconciler;
    }

    /** Reconciles when a round is due. A new leader does not wait for it: the URL of the former one may be registered. */
    void tick() {
        boolean leads = isLeader.getAsBoolean();
        if (ticks % TICKS_PER_ROUND == 0 || leads && !led) {
            reconcile();
        }
        led = leads;
        ticks++;
    }

    void reconcile() {
        try {
            roundsSinceObtained++;
            if (serving == null || roundsSinceObtained >= ROUNDS_PER_MINUTE) {
                certificates.obtain().ifPresent(this::serve);
            }
            ServingCertificate certificate = serving;
            if (certificate != null && isLeader.getAsBoolean()) {
                registrar.ensure(certificate.caPem());
            }
        } catch (ApiServerException | RuntimeException failed) {
            failure = "webhook does not listen yet: " + failed.getMessage();
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("webhook not reconciled, retrying");
        }
    }

    private void serve(ServingCertificate certificate) {
        if (!certificate.equals(serving)) {
            listener.accept(certificate);
            serving = certificate;
        }
        roundsSinceObtained = 0;
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
