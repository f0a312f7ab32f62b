package io.gpufleet.allocation.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.allocation.grpc.AdmissionGrpcClient;
import io.gpufleet.allocation.grpc.AdmissionGrpcServer;
import io.gpufleet.allocation.grpc.ReplicaTls;
import io.gpufleet.allocation.webhook.CertificateIssuer;
import io.gpufleet.allocation.webhook.WebhookServer;
import io.gpufleet.testbed.kafka.FreePort;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.X509CertSelector;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three replicas under load, called as the API server calls a webhook: by the CA and the path of the configuration, on a
 * connection of its own for each review, and by each other. No call fails while certificates, CA, Secret, leader and clocks
 * change.
 */
class WebhookReplicasIT {
    private static final Instant BEGIN = Instant.parse("2026-11-20T12:00:00Z");
    private static final int ROUNDS_A_MINUTE = 30;
    private static final int CALLS_A_STEP = 12;

    /** The configuration as the API server has it. */
    private record Configuration(String caPem, String pathToken) {}

    private final AtomicReference<Instant> now = new AtomicReference<>(BEGIN);
    /** A call takes no time; half a day passes between two calls, not within one. */
    private final ReadWriteLock time = new ReentrantReadWriteLock();

    private final SharedSecret secret = new SharedSecret();
    private final AtomicReference<Configuration> registered = new AtomicReference<>(new Configuration("", ""));
    private final Vertx vertx = Vertx.vertx();
    private final List<Replica> replicas = new ArrayList<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger forwards = new AtomicInteger();
    private volatile boolean loading = true;
    private volatile int leader;

    /** The Secret, which the leader alone may change. */
    private static final class SharedSecret {
        private Optional<CertificateStore.StoredCertificate> stored = Optional.empty();
        private int version;

        synchronized void delete() {
            stored = Optional.empty();
        }

        synchronized Optional<CertificateStore.StoredCertificate> load() {
            return stored;
        }

        synchronized boolean save(Map<String, String> files, String before) {
            if (!before.equals(stored.map(CertificateStore.StoredCertificate::resourceVersion)
                    .orElse(""))) {
                return false;
            }
            version++;
            stored = Optional.of(new CertificateStore.StoredCertificate(Map.copyOf(files), Integer.toString(version)));
            return true;
        }
    }

    /** One replica with a clock of its own. */
    private final class Replica implements CertificateStore {
        private final int number;
        private volatile Duration clockError = Duration.ZERO;
        private final AdmissionProof proof;
        private final WebhookReconciler reconciler;
        private final WebhookServer server;
        private final ReplicaTls tls;
        private final AdmissionGrpcServer grpc;
        private final int port = FreePort.next();

        Replica(int number) {
            this.number = number;
            InstantSource source = () -> now.get().plus(clockError);
            Clock own = source.withZone(ZoneOffset.UTC);
            proof = new AdmissionProof(own);
            server = new WebhookServer(
                    vertx, (review, _) -> CompletableFuture.completedStage(review), proof, "127.0.0.1", port);
            tls = new ReplicaTls(own);
            grpc = AdmissionGrpcServer.open(
                    vertx,
                    new AdmissionGrpcServer.Decisions(
                            (review, _) -> CompletableFuture.completedStage(review), () -> true),
                    tls,
                    "127.0.0.1",
                    0);
            reconciler = new WebhookReconciler(
                    new CertificateIssuer(this, Set.of("127.0.0.1"), "127.0.0.1", own),
                    certificate -> {
                        tls.replace(certificate);
                        server.serve(certificate);
                    },
                    caPem -> {
                        registered.set(new Configuration(caPem, proof.pathToken()));
                        return true;
                    },
                    this::leads);
        }

        private boolean leads() {
            return leader == number;
        }

        @Override
        public Optional<StoredCertificate> load() {
            return secret.load();
        }

        @Override
        public boolean save(Map<String, String> files, String resourceVersion) {
            return leads() && secret.save(files, resourceVersion);
        }

        void minute() {
            for (int round = 0; round < ROUNDS_A_MINUTE; round++) {
                reconciler.reconcile();
            }
        }
    }

    @BeforeEach
    void openThreeReplicas() {
        for (int number = 0; number < 3; number++) {
            replicas.add(new Replica(number));
        }
        minute();
    }

    @AfterEach
    void close() throws Exception {
        for (Replica replica : replicas) {
            replica.server.close();
            replica.grpc.close();
        }
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void certificateIsRenewed() throws Exception {
        elapse(Duration.ofDays(240));
        Certificate before = served();

        underLoad(() -> halfDays(12, day -> day % 3));

        assertThat(served()).isNotEqualTo(before);
    }

    @Test
    void authorityIsRenewed() throws Exception {
        elapse(Duration.ofDays(2430));
        String before = registered.get().caPem();

        underLoad(() -> halfDays(16, day -> day % 3));

        assertThat(registered.get().caPem()).isNotEqualTo(before).doesNotContain(before);
    }

    @Test
    void deletedSecretIsRestoredByWhoeverLeads() throws Exception {
        Certificate before = served();

        underLoad(() -> {
            for (int next : List.of(0, 1, 2)) {
                secret.delete();
                leader = next;
                step();
            }
        });

        assertThat(served()).isEqualTo(before);
        assertThat(secret.load()).isPresent();
    }

    @ParameterizedTest
    @ValueSource(ints = {11, -11})
    void leaderWhoseClockIsWrongByHoursRenewsTheCertificate(int hours) throws Exception {
        elapse(Duration.ofDays(240));
        replicas.getFirst().clockError = Duration.ofHours(hours);
        Certificate before = served();

        underLoad(() -> halfDays(12, _ -> 0));

        assertThat(served()).isNotEqualTo(before);
    }

    private void halfDays(int number, IntUnaryOperator leading) {
        for (int i = 0; i < number; i++) {
            time.writeLock().lock();
            now.updateAndGet(at -> at.plus(Duration.ofHours(12)));
            time.writeLock().unlock();
            leader = leading.applyAsInt(i);
            step();
        }
    }

    /** A minute of the replicas, and calls to each of them after it. */
    private void step() {
        minute();
        int before = calls.get();
        int forwardedBefore = forwards.get();
        await().until(() -> calls.get() >= before + CALLS_A_STEP
                && forwards.get() >= forwardedBefore + replicas.size() * replicas.size());
        assertThat(failures).isEmpty();
    }

    private void minute() {
        replicas.forEach(Replica::minute);
    }

    /** Time that passes before the load begins. */
    private void elapse(Duration passed) {
        for (Instant end = now.get().plus(passed); now.get().isBefore(end); ) {
            now.updateAndGet(at -> at.plus(Duration.ofDays(10)));
            minute();
        }
    }

    private void underLoad(Runnable changes) throws InterruptedException {
        List<Thread> callers = Stream.<Runnable>of(this::call, this::call, this::forward)
                .map(caller -> Thread.ofVirtual().start(caller))
                .toList();
        try {
            changes.run();
        } finally {
            loading = false;
            for (Thread caller : callers) {
                caller.join();
            }
        }
        assertThat(failures).isEmpty();
    }

    private void call() {
        while (loading) {
            int number = calls.get() % replicas.size();
            Configuration configuration = registered.get();
            time.readLock().lock();
            try (SSLSocket socket = connected(configuration, replicas.get(number).port)) {
                socket.getOutputStream()
                        .write(("POST /admit/" + configuration.pathToken()
                                        + " HTTP/1.1\r\nhost: webhook\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
                                .getBytes(US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), US_ASCII);
                if (!answer.startsWith("HTTP/1.1 200")) {
                    failures.add("replica " + number + ": " + answer);
                }
            } catch (IOException | GeneralSecurityException failed) {
                failures.add("replica " + number + " at " + now.get() + ": " + failed);
            } finally {
                time.readLock().unlock();
            }
            calls.incrementAndGet();
        }
    }

    /** Each replica forwards to each one, on a connection of its own. */
    private void forward() {
        while (loading) {
            int number = forwards.get();
            Replica from = replicas.get(number % replicas.size());
            Replica to = replicas.get(number / replicas.size() % replicas.size());
            time.readLock().lock();
            try (var client = new AdmissionGrpcClient(vertx, from.tls)) {
                client.forward(to.grpc.advertisedAddress(), "review".getBytes(US_ASCII), System.nanoTime())
                        .toCompletableFuture()
                        .join();
            } catch (CompletionException failed) {
                failures.add(from.number + " to " + to.number + " at " + now.get() + ": " + failed);
            } finally {
                time.readLock().unlock();
            }
            forwards.incrementAndGet();
        }
    }

    private Certificate served() throws IOException, GeneralSecurityException {
        try (SSLSocket socket = connected(registered.get(), replicas.getFirst().port)) {
            return socket.getSession().getPeerCertificates()[0];
        }
    }

    /** A connection whose server has proven its name by a chain to one of the CAs, valid now. */
    private SSLSocket connected(Configuration configuration, int port) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        for (Certificate ca : CertificateFactory.getInstance("X.509")
                .generateCertificates(
                        new ByteArrayInputStream(configuration.caPem().getBytes(US_ASCII)))) {
            trusted.setCertificateEntry("ca" + trusted.size(), ca);
        }
        var validity = new PKIXBuilderParameters(trusted, new X509CertSelector());
        validity.setRevocationEnabled(false);
        validity.setDate(Date.from(now.get()));
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(new CertPathTrustManagerParameters(validity));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        var socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
        try {
            var parameters = socket.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return socket;
        } catch (IOException refused) {
            socket.close();
            throw refused;
        }
    }
}
