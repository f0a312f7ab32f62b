package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.CertificateSettings;
import io.gpufleet.kit.tls.Pem;
import io.gpufleet.kit.web.ServerTls;
import io.gpufleet.runtime.kubernetes.KubernetesClients;
import io.gpufleet.runtime.kubernetes.ServiceTls;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The CA that the services share in a Secret. */
class ServiceTlsIT {
    private static final CertificateSettings.CaSecret CA =
            new CertificateSettings.CaSecret("gpufleet-system", "gpufleet-ca");

    @TempDir
    private Path directory;

    private final Shutdown shutdown = new Shutdown();
    private FakeApiServer api;
    private KubernetesClient client;

    @BeforeEach
    void open() throws Exception {
        api = shutdown.add("API server", FakeApiServer.start("127.0.0.1", 0));
        client = shutdown.add(
                "client",
                KubernetesClients.connect(
                        Map.of(
                                "KUBECONFIG",
                                api.kubeconfig(directory.resolve("kubeconfig")).toString()),
                        "test",
                        "list nodes"));
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(CA.namespace())
                        .endMetadata()
                        .build())
                .create();
    }

    @AfterEach
    void close() {
        shutdown.close();
    }

    private X509Certificate shown(String service) {
        ServerTls tls = new ServiceTls(service, Clock.systemUTC(), shutdown).open(CA, client);
        assertThat(tls).isInstanceOf(ServerTls.On.class);
        return ((ServerTls.On) tls).certificate().certificate().orElseThrow();
    }

    /** The CA that clients read. */
    private X509Certificate published() throws GeneralSecurityException {
        return Pem.certificate(files().getOrDefault("ca.crt", ""));
    }

    private Map<String, String> files() {
        ConfigMap map = client.configMaps()
                .inNamespace(CA.namespace())
                .withName(CA.name())
                .get();
        return map.getData();
    }

    @Test
    void allServicesShareTheCaThatTheFirstCreatedAndClientsReadItsCertificateOnly() throws Exception {
        X509Certificate inventory = shown("inventory-service");
        X509Certificate health = shown("health-service");

        X509Certificate authority = published();
        assertThat(CertificateAuthority.signed(inventory, authority)).isTrue();
        assertThat(CertificateAuthority.signed(health, authority)).isTrue();
        assertThat(health.getPublicKey()).isNotEqualTo(inventory.getPublicKey());
        assertThat(files()).containsOnlyKeys("ca.crt");
    }

    @Test
    void deletedSecretIsANewCaForTheNextProcessAndForClients() throws Exception {
        X509Certificate before = shown("inventory-service");
        client.secrets().inNamespace(CA.namespace()).withName(CA.name()).delete();

        X509Certificate after = shown("health-service");

        X509Certificate authority = published();
        assertThat(CertificateAuthority.signed(after, authority)).isTrue();
        assertThat(CertificateAuthority.signed(before, authority)).isFalse();
    }

    @Test
    void secretWithoutAUsableCaIsWaitedForUntilItIsRepaired() throws Exception {
        shown("inventory-service");
        client.secrets().inNamespace(CA.namespace()).withName(CA.name()).edit(secret -> {
            secret.getData().remove("ca.key");
            return secret;
        });
        ServerTls.On tls =
                (ServerTls.On) new ServiceTls("health-service", Clock.systemUTC(), shutdown).open(CA, client);
        X509Certificate untrusted = tls.certificate().certificate().orElseThrow();
        assertThat(CertificateAuthority.signed(untrusted, published())).isFalse();

        client.secrets().inNamespace(CA.namespace()).withName(CA.name()).delete();

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(CertificateAuthority.signed(
                                tls.certificate().certificate().orElseThrow(), published()))
                        .isTrue());
    }
}
