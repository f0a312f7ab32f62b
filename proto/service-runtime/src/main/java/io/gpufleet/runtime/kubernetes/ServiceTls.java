package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.tls.CertificateFiles;
import io.gpufleet.kit.tls.CertificateSettings;
import io.gpufleet.kit.web.ServerTls;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** TLS of the HTTP and gRPC servers of a service, by the source of certificates that its settings name. */
public final class ServiceTls {
    private static final Duration RELOAD = Duration.ofSeconds(10);
    /** A deleted Secret is noticed within this time. */
    private static final Duration READ_AGAIN = Duration.ofMinutes(1);

    private final String service;
    private final InstantSource clock;
    private final Shutdown shutdown;

    /** For a service; {@code shutdown} ends what renews the certificate. */
    public ServiceTls(String service, InstantSource clock, Shutdown shutdown) {
        this.service = service;
        this.clock = clock;
        this.shutdown = shutdown;
    }

    /** Opens the source: files that cannot be used stop the start, a CA that cannot be read is waited for. Blocks. */
    public ServerTls open(CertificateSettings settings, KubernetesClient client) {
        return switch (settings) {
            case CertificateSettings.None() -> new ServerTls.Off();
            case CertificateSettings.Files files -> {
                var read = CertificateFiles.read(files, clock);
                repeat(() -> {
                    read.reload();
                    return RELOAD;
                });
                yield new ServerTls.On(read.certificate());
            }
            case CertificateSettings.CaSecret secret -> {
                var authority = new SharedAuthority(client, secret, clock);
                var issued =
                        new IssuedCertificate(authority::obtain, service, hosts(service, secret.namespace()), clock);
                issued.renew();
                repeat(() -> {
                    issued.renew();
                    return issued.isShared() ? READ_AGAIN : RELOAD;
                });
                yield new ServerTls.On(issued.certificate());
            }
        };
    }

    /** Runs a renewal again and again, each time after the pause that it returns. */
    private void repeat(Supplier<Duration> renewal) {
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(
                Thread.ofVirtual().name("certificate").factory());
        shutdown.add("certificate", executor::shutdownNow);
        again(executor, renewal, RELOAD);
    }

    private static void again(ScheduledExecutorService executor, Supplier<Duration> renewal, Duration pause) {
        var _ = executor.schedule(
                () -> {
                    Duration next = RELOAD;
                    try {
                        next = renewal.get();
                    } finally {
                        again(executor, renewal, next);
                    }
                },
                pause.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /** Names and addresses at which clients reach a replica: by its Services, by its pod, by a forwarded port. */
    static Set<String> hosts(String service, String namespace) {
        Set<String> hosts = new TreeSet<>(List.of("localhost", "127.0.0.1", "::1"));
        for (String domain :
                List.of("", "." + namespace, "." + namespace + ".svc", "." + namespace + ".svc.cluster.local")) {
            hosts.add(service + domain);
            hosts.add("*." + service + "-replicas" + domain);
        }
        hosts.addAll(addresses());
        return hosts;
    }

    private static Set<String> addresses() {
        try {
            return NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLinkLocalAddress() && !address.isLoopbackAddress())
                    .map(InetAddress::getHostAddress)
                    .map(address -> address.replaceFirst("%.*", ""))
                    .collect(Collectors.toSet());
        } catch (SocketException unreadable) {
            throw new UncheckedIOException("the addresses of this machine cannot be read", unreadable);
        }
    }
}
