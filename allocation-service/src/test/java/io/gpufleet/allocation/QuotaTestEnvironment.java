package io.gpufleet.allocation;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.NullMarked;

/** An API server with two GPU nodes, a broker, and the service. Removes what it creates. */
@NullMarked
final class QuotaTestEnvironment implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String CRD = "../k8s/base/crds/gpuquotas.yaml";

    private final KubernetesClient client;
    private final BrokerProcess broker;
    private final Map<String, String> settings = new HashMap<>();
    private final String suffix = Long.toString(System.currentTimeMillis(), 36);
    private final List<String> namespaces = new ArrayList<>();
    private final List<String> quotas = new ArrayList<>();
    private final QuotaTestNodes nodes;
    private final List<ProgramProcess> standbys = new ArrayList<>();
    private ProgramProcess service;
    private int nextNumber;

    QuotaTestEnvironment(Path kubeconfig, Path dir) throws IOException {
        client = TestKubernetes.client(kubeconfig);
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        try (var crd = new FileInputStream(CRD)) {
            client.load(crd).serverSideApply();
        }
        int webhook = FreePort.next();
        settings.putAll(Map.of(
                "KUBECONFIG", kubeconfig.toString(),
                "GPUFLEET_CLUSTER", "it",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_NAMESPACE", namespace(),
                "GPUFLEET_WEBHOOK_HOST", "127.0.0.1",
                "GPUFLEET_WEBHOOK_PORT", Integer.toString(webhook),
                "GPUFLEET_WEBHOOK_URL", "https://127.0.0.1:" + webhook + "/admit"));
        nodes = new QuotaTestNodes(client, broker.bootstrap(), suffix);
        service = launch();
    }

    /** On the API server of {@code GPUFLEET_TEST_KUBECONFIG}; leads. */
    static QuotaTestEnvironment ofRealCluster(Path dir) throws IOException {
        String kubeconfig = Objects.requireNonNull(
                System.getenv("GPUFLEET_TEST_KUBECONFIG"), "GPUFLEET_TEST_KUBECONFIG names no kubeconfig");
        return new QuotaTestEnvironment(Path.of(kubeconfig), dir).awaitReady();
    }

    KubernetesClient client() {
        return client;
    }

    /** URL of the webhook, as the setting of the service names it. */
    URI webhook() {
        return URI.create(settings.getOrDefault("GPUFLEET_WEBHOOK_URL", ""));
    }

    QuotaTestNodes nodes() {
        return nodes;
    }

    ProgramProcess service() {
        return service;
    }

    /** The first standby. */
    ProgramProcess standby() {
        return standbys.getFirst();
    }

    /** URL of the webhook as it is registered now, with the token of its path. */
    URI registeredWebhook() {
        return URI.create(client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .get()
                .getWebhooks()
                .getFirst()
                .getClientConfig()
                .getUrl());
    }

    /** The Secret with the certificate of the webhook. */
    Resource<Secret> certificate() {
        return client.secrets()
                .inNamespace(settings.getOrDefault("GPUFLEET_NAMESPACE", ""))
                .withName("gpufleet-webhook");
    }

    /** The broker, for a test that takes it away. */
    BrokerProcess broker() {
        return broker;
    }

    /** Identity of the process that holds the Lease of the quota leader. */
    String leaseHolder() {
        return client.leases()
                .inNamespace(settings.getOrDefault("GPUFLEET_NAMESPACE", ""))
                .withName("gpufleet-quota-leader")
                .get()
                .getSpec()
                .getHolderIdentity();
    }

    /** Starts a standby with a webhook of its own, which it registers once it leads. */
    void startStandby() {
        int webhook = FreePort.next();
        standbys.add(ProgramProcess.of("allocation-service", AllocationMain.class.getName(), Path.of("target"))
                .environment(settings)
                .environment(Map.of(
                        "GPUFLEET_INSTANCE", "allocation-service-" + (standbys.size() + 1),
                        "GPUFLEET_WEBHOOK_PORT", Integer.toString(webhook),
                        "GPUFLEET_WEBHOOK_URL", "https://127.0.0.1:" + webhook + "/admit"))
                .freePort("GPUFLEET_GRPC_PORT")
                .start());
    }

    /** Waits until every standby has read what it needs to lead. */
    void awaitStandbys() {
        standbys.forEach(standby -> standby.awaitReady(TIMEOUT));
    }

    /** Ends the first replica, which leads, without a warning; returns when a standby leads. */
    void killLeader() {
        service.kill();
        await().atMost(TIMEOUT)
                .until(() -> standbys.stream().anyMatch(standby -> standby.hasMetric("gpufleet_quota_leader 1.0")));
    }

    private ProgramProcess launch() {
        return ProgramProcess.of("allocation-service", AllocationMain.class.getName(), Path.of("target"))
                .environment(settings)
                .freePort("GPUFLEET_GRPC_PORT")
                .start();
    }

    private void awaitLeader() {
        service.awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_quota_leader 1.0"));
    }

    void killAndRestart() {
        service.kill();
        service = launch();
        awaitLeader();
    }

    /** The same while Kafka is away: returns when reviews are sent to the new process. */
    void killAndRestartWithoutKafka() {
        service.kill();
        service = launch();
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> service.get("/readyz/admission").status() == 200);
    }

    /** Creates a namespace. */
    String namespace() {
        String name = "gpufleet-it-" + suffix + "-" + nextNumber++;
        namespaces.add(name);
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("it", suffix)
                        .endMetadata()
                        .build())
                .create();
        return name;
    }

    /** Creates a quota; returns when it has a leader and the webhook fails closed in its namespaces. */
    void quota(String name, String mode, String ambiguousModel, Map<String, Integer> limits, String... covered) {
        quota(
                name,
                Map.of(
                        "mode",
                        mode,
                        "ambiguousModel",
                        ambiguousModel,
                        "limits",
                        new TreeMap<>(limits)
                                .entrySet().stream()
                                        .map(limit -> Map.of("model", limit.getKey(), "gpus", limit.getValue()))
                                        .toList()),
                covered);
    }

    /** Creates a quota of namespaces with a specification; returns likewise. */
    void quota(String name, Map<String, Object> spec, String... covered) {
        var quota = new GenericKubernetesResource();
        quota.setApiVersion("gpufleet.io/v1alpha1");
        quota.setKind("GpuQuota");
        quota.setMetadata(new ObjectMetaBuilder().withName(name).build());
        Map<String, Object> covering = new HashMap<>(spec);
        covering.put("namespaces", List.of(covered));
        quota.setAdditionalProperty("spec", covering);
        quotas.add(name);
        client.resource(quota).create();
        await().atMost(TIMEOUT)
                .until(() -> !status(name).getOrDefault("leader", "").toString().isEmpty());
        if (!"Warn".equals(spec.get("mode"))) {
            for (String namespace : covered) {
                await().atMost(TIMEOUT)
                        .until(() -> "enforce"
                                .equals(client.namespaces()
                                        .withName(namespace)
                                        .get()
                                        .getMetadata()
                                        .getLabels()
                                        .get("gpufleet.io/quota")));
            }
        }
    }

    /** Replaces the limits of a quota by those of a JSON list. */
    void replaceLimits(String quota, String limits) {
        client.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuQuota")
                .withName(quota)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"limits\":" + limits + "}}");
    }

    String uniqueName(String name) {
        return name + "-" + suffix + "-" + nextNumber++;
    }

    @SuppressWarnings("unchecked")
    Map<String, Object> status(String quota) {
        GenericKubernetesResource found = client.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuQuota")
                .withName(quota)
                .get();
        Object status = found == null ? null : found.getAdditionalProperties().get("status");
        return status instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    Pod pod(String namespace, String name, String gpus, Map<String, String> selector) {
        return pod(namespace, name, Map.of("nvidia.com/gpu", new Quantity(gpus)), selector);
    }

    Pod pod(String namespace, String name, Map<String, Quantity> limits, Map<String, String> selector) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withAutomountServiceAccountToken(false)
                .withNodeSelector(selector)
                .addNewContainer()
                .withName("main")
                .withImage("testbed/pause:1")
                .withNewResources()
                .withLimits(limits)
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    Pod a100Pod(String namespace, String name, int gpus) {
        return a100Pod(namespace, name, "nvidia.com/gpu", gpus);
    }

    Pod a100Pod(String namespace, String name, String resource, int gpus) {
        return pod(
                namespace,
                name,
                Map.of(resource, new Quantity(Integer.toString(gpus))),
                Map.of("nvidia.com/gpu.product", QuotaTestNodes.A100.replace(' ', '-')));
    }

    /** Creates a pod; returns the message of the denial, or an empty text. */
    String create(Pod pod) {
        return refusal(client.resource(pod)::create);
    }

    /** The message with which the creation of a pod would be denied, or an empty text. */
    String dryRun(Pod pod) {
        return refusal(() -> client.resource(pod).dryRun().create());
    }

    private static String refusal(Runnable creation) {
        try {
            creation.run();
            return "";
        } catch (KubernetesClientException refused) {
            return String.valueOf(refused.getMessage());
        }
    }

    /** Creates an object of any kind from its JSON; returns the message of the denial, or an empty text. */
    String createObject(String json) {
        return refusal(() -> client.resource(json).create());
    }

    /** Warnings of the API server for the creation of a quota, which is not stored. */
    List<String> warningsOfDryRun(String quota) {
        var http = client.getHttpClient();
        var request = http.newHttpRequestBuilder()
                .uri(client.getMasterUrl() + "apis/gpufleet.io/v1alpha1/gpuquotas?dryRun=All")
                .post("application/json", quota)
                .build();
        return http.sendAsync(request, String.class).join().headers("Warning");
    }

    /** Waits for the service account of a namespace, without which no pod can be created. */
    void awaitServiceAccount(String namespace) {
        await().atMost(TIMEOUT).until(() -> {
            try {
                client.resource(pod(namespace, "probe", "0", Map.of())).dryRun().create();
                return true;
            } catch (KubernetesClientException notYet) {
                return false;
            }
        });
    }

    int gpusIn(String namespace) {
        return client.pods().inNamespace(namespace).list().getItems().stream()
                .flatMap(pod -> pod.getSpec().getContainers().stream())
                .map(container -> container.getResources().getLimits())
                .mapToInt(limits -> Integer.parseInt(
                        limits.getOrDefault("nvidia.com/gpu", new Quantity("0")).getAmount()))
                .sum();
    }

    /** Waits until the service is the quota leader. */
    QuotaTestEnvironment awaitReady() {
        try {
            awaitLeader();
            return this;
        } catch (RuntimeException never) {
            close();
            throw never;
        }
    }

    @Override
    public void close() {
        service.close();
        standbys.forEach(ProgramProcess::close);
        client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .delete();
        var all = client.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuQuota");
        quotas.forEach(name -> all.withName(name).delete());
        nodes.close();
        namespaces.forEach(name -> {
            client.pods().inNamespace(name).withGracePeriod(0).delete();
            client.namespaces().withName(name).delete();
        });
        client.apiextensions()
                .v1()
                .customResourceDefinitions()
                .withName("gpuquotas.gpufleet.io")
                .delete();
        client.close();
        broker.close();
    }
}
