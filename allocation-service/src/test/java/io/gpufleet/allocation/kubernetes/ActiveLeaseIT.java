package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.KnownGpuResources;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.testkit.TestKubernetes;
import java.io.FileInputStream;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every write to the API server asks the lease after the reads that precede it. */
@NullMarked
class ActiveLeaseIT {
    private static final String NAMESPACE = "gpufleet-system";

    @TempDir
    private Path dir;

    private final AtomicInteger asked = new AtomicInteger();
    private final ActiveLease active = new ActiveLease();
    private final KnownGpuResources resources =
            new KnownGpuResources(GpuResources.NONE.with(List.of("nvidia.com/gpu", "nvidia.com/mig-*")));
    private boolean held;
    private FakeApiServer api;
    private KubernetesClient client;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        client = TestKubernetes.client(api.kubeconfig(dir.resolve("kubeconfig")));
        active.begin(() -> {
            asked.incrementAndGet();
            return held;
        });
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAMESPACE)
                        .endMetadata()
                        .build())
                .create();
        try (var crd = new FileInputStream("../k8s/base/crds/gpuquotas.yaml")) {
            client.load(crd).serverSideApply();
        }
        var quota = new GenericKubernetesResource();
        quota.setApiVersion("gpufleet.io/v1alpha1");
        quota.setKind("GpuQuota");
        quota.setMetadata(new ObjectMetaBuilder().withName("q").build());
        quota.setAdditionalProperty(
                "spec", Map.of("namespaces", List.of("ml"), "limits", List.of(Map.of("model", "A100", "gpus", 8))));
        client.resource(quota).create();
    }

    @AfterEach
    void close() {
        client.close();
        api.close();
    }

    @Test
    void statusOfAQuotaIsWrittenUnderTheLeaseOnly() throws Exception {
        var quotas = new KubernetesQuotaClient(client, client, active, Clock.systemUTC());
        GpuQuota led = quotas.quotas().quotas().getFirst().withStatus(QuotaStatus.NONE.withLeader("r0@1", 1));
        // When
        assertThatThrownBy(() -> quotas.updateStatus(led))
                .isInstanceOf(ApiServerException.class)
                .hasMessage("status of gpuquota/q not written: this replica is not active now");
        // Then
        assertThat(quotas.quotas().quotas().getFirst().status().leader()).isEmpty();
        held = true;
        quotas.updateStatus(led);
        assertThat(quotas.quotas().quotas().getFirst().status().leader()).isEqualTo("r0@1");
        assertThat(asked).hasValue(2);
    }

    @Test
    void namespaceIsLabelledUnderTheLeaseOnly() throws Exception {
        var quotas = new KubernetesQuotaClient(client, client, active, Clock.systemUTC());
        assertThatThrownBy(() -> quotas.labelNamespace(NAMESPACE, true)).isInstanceOf(ApiServerException.class);
        assertThat(label()).isEmpty();
        held = true;
        quotas.labelNamespace(NAMESPACE, true);
        assertThat(label()).isEqualTo("enforce");
        quotas.labelNamespace(NAMESPACE, false);
        assertThat(label()).isEmpty();
        quotas.labelNamespace("gone", true);
    }

    @Test
    void labelOfANamespaceIsOneRequest() throws Exception {
        // Given
        held = true;
        var requests = new CopyOnWriteArrayList<String>();
        try (KubernetesClient recording = new KubernetesClientBuilder()
                .withConfig(client.getConfiguration())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("recorded", new Interceptor() {
                    @Override
                    public void before(BasicBuilder headers, HttpRequest request, RequestTags tags) {
                        requests.add(request.method() + " " + request.uri().getPath());
                    }
                }))
                .build()) {
            // When
            new KubernetesQuotaClient(recording, recording, active, Clock.systemUTC()).labelNamespace(NAMESPACE, true);
        }
        // Then
        assertThat(requests).containsExactly("PATCH /api/v1/namespaces/" + NAMESPACE);
        assertThat(label()).isEqualTo("enforce");
    }

    private String label() {
        Map<String, String> labels =
                client.namespaces().withName(NAMESPACE).get().getMetadata().getLabels();
        return labels == null ? "" : labels.getOrDefault("gpufleet.io/quota", "");
    }

    @Test
    void webhookIsRegisteredUnderTheLeaseOnly() {
        var registration = new WebhookRegistration(client, active, NAMESPACE, "", () -> "token", resources::get);
        var configurations = client.admissionRegistration().v1().validatingWebhookConfigurations();
        assertThat(registration.ensure("ca")).isFalse();
        assertThat(configurations.withName(WebhookRegistration.NAME).get()).isNull();
        held = true;
        assertThat(registration.ensure("ca")).isTrue();
        assertThat(configurations.withName(WebhookRegistration.NAME).get()).isNotNull();
        // When nothing differs, nothing is written
        held = false;
        assertThat(registration.ensure("ca")).isTrue();
        assertThat(registration.ensure("other ca")).isFalse();
    }

    @Test
    void webhookCoversAResourceOnceItIsAnnounced() {
        held = true;
        var registration = new WebhookRegistration(client, active, NAMESPACE, "", () -> "token", resources::get);
        registration.ensure("ca");
        assertThat(matchCondition())
                .contains("r in ['nvidia.com/gpu'] || r.startsWith('nvidia.com/mig-')")
                .doesNotContain("example.com");
        // When
        var offers = new TreeSet<>(List.of(new AnnouncedGpus.Offer("example.com/a100-whole", "A100", "", 1)));
        resources.announced(List.of(new AnnouncedGpus(List.of(), offers, Map.of())));
        registration.ensure("ca");
        // Then
        assertThat(matchCondition()).contains("r in ['example.com/a100-whole', 'nvidia.com/gpu']");
    }

    private String matchCondition() {
        return client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WebhookRegistration.NAME)
                .get()
                .getWebhooks()
                .getFirst()
                .getMatchConditions()
                .getFirst()
                .getExpression();
    }

    private static Stream<Arguments> changesOfWebhook() {
        return Stream.<Map.Entry<String, Consumer<ValidatingWebhook>>>of(
                        Map.entry("name", webhook -> webhook.setName("other.quota.gpufleet.io")),
                        Map.entry("timeout", webhook -> webhook.setTimeoutSeconds(30)),
                        Map.entry(
                                "rules",
                                webhook -> webhook.getRules().getFirst().setOperations(List.of("DELETE"))),
                        Map.entry("no rules", webhook -> webhook.setRules(List.of())),
                        Map.entry("side effects", webhook -> webhook.setSideEffects("None")),
                        Map.entry("match policy", webhook -> webhook.setMatchPolicy("Exact")),
                        Map.entry("versions", webhook -> webhook.setAdmissionReviewVersions(List.of("v1", "v1beta1"))),
                        Map.entry(
                                "objects",
                                webhook -> webhook.setObjectSelector(new LabelSelectorBuilder()
                                        .addToMatchLabels("a", "b")
                                        .build())),
                        Map.entry("namespaces", webhook -> webhook.setNamespaceSelector(new LabelSelector())),
                        Map.entry("conditions", webhook -> webhook.setMatchConditions(List.of())),
                        Map.entry("trust", webhook -> webhook.getClientConfig().setCaBundle("b3RoZXI=")),
                        Map.entry(
                                "path",
                                webhook ->
                                        webhook.getClientConfig().getService().setPath("/admit")),
                        Map.entry(
                                "service",
                                webhook ->
                                        webhook.getClientConfig().getService().setName("other")),
                        Map.entry(
                                "namespace of the service",
                                webhook ->
                                        webhook.getClientConfig().getService().setNamespace("other")),
                        Map.entry(
                                "port",
                                webhook ->
                                        webhook.getClientConfig().getService().setPort(8444)),
                        Map.entry(
                                "groups",
                                webhook -> webhook.getRules().getFirst().setApiGroups(List.of("apps"))),
                        Map.entry(
                                "resources",
                                webhook -> webhook.getRules().getFirst().setResources(List.of("pods/status"))),
                        Map.entry(
                                "scope",
                                webhook -> webhook.getRules().getFirst().setScope("Cluster")))
                .map(change -> Arguments.of(change.getKey(), change.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changesOfWebhook")
    void everyFieldOfTheWebhookIsRepaired(String field, Consumer<ValidatingWebhook> change) {
        held = true;
        var registration = new WebhookRegistration(client, active, NAMESPACE, "", () -> "token", resources::get);
        registration.ensure("ca");
        var configuration = client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WebhookRegistration.NAME);
        List<ValidatingWebhook> intact = configuration.get().getWebhooks();
        configuration.edit(found -> {
            change.accept(found.getWebhooks().getFirst());
            return found;
        });
        assertThat(configuration.get().getWebhooks()).as(field).isNotEqualTo(intact);
        // When
        assertThat(registration.ensure("ca")).isTrue();
        // Then
        assertThat(configuration.get().getWebhooks()).as(field).isEqualTo(intact);
    }

    @Test
    void failuresAreIgnoredUntilTheServiceLeadsToReadyReplica() {
        held = true;
        var registration = new WebhookRegistration(client, active, NAMESPACE, "", () -> "token", resources::get);
        // Given a Service that leads nowhere
        registration.ensure("ca");
        registration.ensure("ca");
        assertThat(enforcedPolicy()).isEqualTo("Ignore");

        // When a replica is ready, and still is in the next round
        createReadyReplica();
        registration.ensure("ca");
        assertThat(enforcedPolicy()).isEqualTo("Ignore");
        registration.ensure("ca");
        assertThat(enforcedPolicy()).isEqualTo("Fail");

        // Then it stays, also while no replica is ready
        client.discovery().v1().endpointSlices().inNamespace(NAMESPACE).delete();
        registration.ensure("another ca");
        assertThat(enforcedPolicy()).isEqualTo("Fail");
    }

    private void createReadyReplica() {
        client.resource(new EndpointSliceBuilder()
                        .withNewMetadata()
                        .withNamespace(NAMESPACE)
                        .withName("allocation-service-a")
                        .addToLabels("kubernetes.io/service-name", WebhookRegistration.SERVICE)
                        .endMetadata()
                        .withAddressType("IPv4")
                        .addNewEndpoint()
                        .withAddresses("10.0.0.1")
                        .withNewConditions()
                        .withReady(true)
                        .endConditions()
                        .endEndpoint()
                        .build())
                .create();
    }

    @Test
    void failurePoliciesAndWebhooksThatAreMissingAreRepaired() {
        // Given a configuration that fails closed in namespaces of quotas, and open elsewhere
        held = true;
        createReadyReplica();
        var registration = new WebhookRegistration(client, active, NAMESPACE, "", () -> "token", resources::get);
        registration.ensure("ca");
        registration.ensure("ca");
        var configuration = client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WebhookRegistration.NAME);
        List<ValidatingWebhook> intact = configuration.get().getWebhooks();
        assertThat(intact)
                .extracting(ValidatingWebhook::getFailurePolicy)
                .containsExactly("Fail", "Ignore", "Fail", "Ignore", "Ignore");
        List<Consumer<List<ValidatingWebhook>>> changes = List.of(
                webhooks -> webhooks.forEach(webhook -> webhook.setFailurePolicy("Ignore")),
                webhooks -> webhooks.forEach(webhook -> webhook.setFailurePolicy("Fail")),
                List::removeFirst,
                List::removeLast);
        for (Consumer<List<ValidatingWebhook>> change : changes) {
            // When
            configuration.edit(found -> {
                change.accept(found.getWebhooks());
                return found;
            });
            registration.ensure("ca");
            // Then
            assertThat(configuration.get().getWebhooks()).isEqualTo(intact);
        }
    }

    private String enforcedPolicy() {
        return client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WebhookRegistration.NAME)
                .get()
                .getWebhooks()
                .getFirst()
                .getFailurePolicy();
    }

    @Test
    void certificateIsStoredUnderTheLeaseOnly() throws Exception {
        var secret = new CertificateSecret(client, active, NAMESPACE);
        assertThat(secret.save(Map.of("tls.crt", "pem"), "")).isFalse();
        assertThat(secret.load()).isEmpty();
        held = true;
        assertThat(secret.save(Map.of("tls.crt", "pem"), "")).isTrue();
        assertThat(secret.load())
                .hasValueSatisfying(stored -> assertThat(stored.files()).isEqualTo(Map.of("tls.crt", "pem")));
    }
}
