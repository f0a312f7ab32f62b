package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.quota.LeaseStore.LeaseRecord;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.runtime.kubernetes.SharedNeeds;
import io.gpufleet.testbed.testkit.AccountRights;
import io.gpufleet.testbed.testkit.LogLines;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every right of the manifest on a real API server, with it and without it. */
@NullMarked
class RightsClusterIT {
    private static final String NAME = "gpufleet-it-allocation-rights";
    private static final String QUOTAS = "k8s/base/crds/gpuquotas.yaml";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final GpuResources GPUS = GpuResources.NONE.with(Set.of("nvidia.com/gpu"));

    private final AtomicInteger changes = new AtomicInteger();
    private final ActiveLease active = new ActiveLease();
    private final AccountRights account;
    private final KubernetesClient admin;

    RightsClusterIT() throws IOException {
        account = AccountRights.grant(NAME, List.of("k8s/base/services/allocation-service/rbac.yaml"), role -> true);
        admin = account.admin();
    }

    @BeforeEach
    void create() throws IOException {
        active.begin(() -> true);
        account.createNode();
        try (var definition = Files.newInputStream(Repository.module(QUOTAS))) {
            admin.load(definition).serverSideApply();
        }
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> !admin.genericKubernetesResources(GpuQuotaMapper.CONTEXT)
                        .resource(admin.getKubernetesSerialization()
                                .unmarshal("""
                                {"apiVersion": "gpufleet.io/v1alpha1", "kind": "GpuQuota", "metadata": {"name": "%s"},
                                 "spec": {"namespaces": ["gpufleet-it-nobody"], "limits": [{"model": "H100", "gpus": 1}]}}
                                """.formatted(NAME), GenericKubernetesResource.class))
                        .create()
                        .getMetadata()
                        .getUid()
                        .isEmpty());
    }

    @AfterEach
    void remove() {
        admin.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WebhookRegistration.NAME)
                .delete();
        account.removeDefinition("gpuquotas.gpufleet.io");
        account.close();
    }

    @Test
    void everyRightIsNeededAndNamedWhereItIsMissing() {
        Map<String, Supplier<String>> needs = new HashMap<>(SharedNeeds.of(account.client(), admin, NAME));
        for (String verb : List.of("list ", "watch ")) {
            needs.put(verb + "pods", () -> watch(this::createPod));
            needs.put(
                    verb + "nodes",
                    () -> watch(change -> admin.nodes().withName(NAME).patch(merge(), label(change))));
            needs.put(
                    verb + "namespaces",
                    () -> watch(change -> admin.namespaces().withName(NAME).patch(merge(), label(change))));
            needs.put(verb + "resourceclaims.resource.k8s.io", () -> watch(this::createClaim));
        }
        needs.put(
                "list resourcequotas",
                problem(() -> new KubernetesResourceQuotas(account.client(), () -> GPUS).gpuLimits()));
        needs.putAll(quotas());
        needs.putAll(leases());
        needs.put("get secrets gpufleet-webhook", problem(() -> certificate().load()));
        needs.put("update secrets gpufleet-webhook", problem(() -> {
            if (certificate().load().isEmpty()) {
                certificate().save(Map.of("tls.crt", "first"), "");
            }
            certificate()
                    .save(
                            Map.of("tls.crt", "next " + changes.incrementAndGet()),
                            certificate().load().orElseThrow().resourceVersion());
        }));
        needs.put("get validatingwebhookconfigurations.admissionregistration.k8s.io gpufleet-quota", this::register);
        needs.put("update validatingwebhookconfigurations.admissionregistration.k8s.io gpufleet-quota", this::register);
        needs.put("list endpointslices.discovery.k8s.io", this::register);

        assertThat(account.findings(needs)).isEmpty();
    }

    private interface Call {
        void run() throws ApiServerException;
    }

    /** The message of a call that fails. */
    private static Supplier<String> problem(Call call) {
        return () -> {
            try {
                call.run();
                return "";
            } catch (ApiServerException failed) {
                return String.valueOf(failed.getMessage());
            }
        };
    }

    private Map<String, Supplier<String>> quotas() {
        var client = new KubernetesQuotaClient(account.client(), account.client(), active, Clock.systemUTC());
        return Map.of(
                "list gpuquotas.gpufleet.io",
                problem(client::quotas),
                "get gpuquotas.gpufleet.io",
                problem(() -> client.quota(NAME)),
                "update gpuquotas/status.gpufleet.io",
                problem(() -> client.updateStatus(client.quota(NAME).orElseThrow())),
                "patch namespaces",
                problem(() -> client.labelNamespace(NAME, changes.incrementAndGet() % 2 == 0)));
    }

    private Map<String, Supplier<String>> leases() {
        var leases = new KubernetesLease(account.client(), NAME, Clock.systemUTC());
        var found = admin.leases().inNamespace(NAME).withName("gpufleet-quota-leader");
        return Map.of(
                "create leases.coordination.k8s.io",
                problem(() -> {
                    found.delete();
                    leases.write(new LeaseRecord("a", "127.0.0.1:1", ""));
                }),
                "get leases.coordination.k8s.io gpufleet-quota-leader",
                problem(leases::read),
                "update leases.coordination.k8s.io gpufleet-quota-leader",
                problem(() -> {
                    leases.write(new LeaseRecord("a", "127.0.0.1:1", ""));
                    leases.write(leases.read().orElseThrow());
                }));
    }

    private CertificateSecret certificate() {
        return new CertificateSecret(account.client(), active, NAME);
    }

    /** The line of a registration that failed; the configuration is as the manifests have it. */
    private String register() {
        admin.resource(new ValidatingWebhookConfigurationBuilder()
                        .withNewMetadata()
                        .withName(WebhookRegistration.NAME)
                        .endMetadata()
                        .build())
                .createOr(edit -> edit.update());
        try (var log = LogLines.of(WebhookRegistration.class.getName())) {
            new WebhookRegistration(account.client(), active, NAME, "", () -> "token", () -> GPUS)
                    .ensure("no certificate");
            return log.first();
        } finally {
            admin.admissionRegistration()
                    .v1()
                    .validatingWebhookConfigurations()
                    .withName(WebhookRegistration.NAME)
                    .delete();
        }
    }

    /** The line of a watch that does not start; empty once it brings a change. */
    private String watch(Consumer<String> change) {
        String name = "change-" + changes.incrementAndGet();
        var seen = new SeenObjects(name);
        try (var log = LogLines.of(ClusterWatch.class.getName());
                var watch = ClusterWatch.open(account.client(), seen, () -> GPUS)) {
            await().atMost(TIMEOUT)
                    .until(() ->
                            !log.first().isEmpty() || watch.readinessFailures().isEmpty());
            change.accept(name);
            await().atMost(TIMEOUT).until(() -> !log.first().isEmpty() || seen.found());
            return log.first();
        }
    }

    private void createPod(String name) {
        // The API server adds an account to a pod, which comes a moment after the namespace.
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() ->
                        admin.resource(RealCluster.pod(NAME, name, 1, "true")).create() != null);
    }

    private void createClaim(String name) {
        admin.resource("""
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                 "metadata": {"name": "%s", "namespace": "%s"},
                 "spec": {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}}
                """.formatted(name, NAME)).create();
    }

    private static PatchContext merge() {
        return PatchContext.of(PatchType.JSON_MERGE);
    }

    private static String label(String value) {
        return "{\"metadata\":{\"labels\":{\"example.com/change\":\"" + value + "\"}}}";
    }
}
