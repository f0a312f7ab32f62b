package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.WebhookRegistrar;
import io.gpufleet.allocation.app.quota.QuotaLeader;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** ValidatingWebhookConfiguration that sends the creation of pods that request GPUs, of ResourceClaims and of GpuQuotas to this service. */
public final class WebhookRegistration implements WebhookRegistrar {
    /** Name of the configuration. */
    public static final String NAME = "gpufleet-quota";

    /** Service of the webhook port. */
    public static final String SERVICE = "allocation-service";

    private static final Logger LOG = LoggerFactory.getLogger(WebhookRegistration.class);
    private static final int TIMEOUT_SECONDS = 3;
    private static final String PATH = "/admit/";

    private final KubernetesClient client;
    private final ActiveLease active;
    private final String namespace;
    private final String url;
    private final Supplier<String> pathToken;
    private final WebhookEndpointSlices endpoints;
    private final Supplier<GpuResources> resources;

    /**
     * Registers {@code url}, or the Service of the namespace where that is empty; the token is the last part of the path.
     * Pods that request one of the resources known at a time reach the webhook.
     */
    public WebhookRegistration(
            KubernetesClient client,
            ActiveLease active,
            String namespace,
            String url,
            Supplier<String> pathToken,
            Supplier<GpuResources> resources) {
        this.client = client;
        this.active = active;
        this.namespace = namespace;
        this.url = url;
        this.pathToken = pathToken;
        this.resources = resources;
        this.endpoints = new WebhookEndpointSlices(client, namespace, !url.isEmpty());
    }

    /** DNS names and IP addresses by which the API server calls the webhook: the Service, and the host of the URL. */
    public static Set<String> serverNames(String namespace, String url) {
        Set<String> names = new TreeSet<>();
        names.add(SERVICE + "." + namespace + ".svc");
        if (!url.isEmpty()) {
            names.add(URI.create(url).getHost());
        }
        return names;
    }

    @Override
    public boolean ensure(String caPem) {
        var configurations = client.admissionRegistration().v1().validatingWebhookConfigurations();
        try {
            ValidatingWebhookConfiguration found = configurations.withName(NAME).get();
            ValidatingWebhookConfiguration desired = desired(found, caPem);
            if (found != null && same(found, desired)) {
                return true;
            }
            if (!active.held()) {
                return false;
            }
            if (found == null) {
                // Outside a cluster: in one the manifests have it, and nobody has the right to create it again.
                configurations.resource(desired).create();
            } else {
                desired.getMetadata().setResourceVersion(found.getMetadata().getResourceVersion());
                configurations.resource(desired).update();
            }
            LOG.atInfo().addKeyValue("configuration", NAME).log("webhook registered");
            return true;
        } catch (KubernetesClientException failed) {
            LOG.atWarn().addKeyValue("error", ApiErrorMessage.of(failed)).log("webhook registration failed, retrying");
            return false;
        }
    }

    /** Pods of enforced namespaces are refused without an answer, but not before the Service leads to a replica once. */
    private ValidatingWebhookConfiguration desired(@Nullable ValidatingWebhookConfiguration found, String caPem) {
        String policy = enforces(found) || endpoints.ready() ? "Fail" : "Ignore";
        return new ValidatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .withName(NAME)
                .addToLabels("app.kubernetes.io/part-of", "gpufleet")
                .endMetadata()
                .withWebhooks(
                        pods("enforced", policy, "In", caPem),
                        pods("open", "Ignore", "NotIn", caPem),
                        claims("claims-enforced", policy, "In", caPem),
                        claims("claims-open", "Ignore", "NotIn", caPem),
                        quotas(caPem))
                .build();
    }

    private static boolean enforces(@Nullable ValidatingWebhookConfiguration found) {
        return found != null
                && found.getWebhooks().stream().anyMatch(webhook -> "Fail".equals(webhook.getFailurePolicy()));
    }

    // All fields of a webhook, since each of them decides whether a pod is reviewed; an API server returns none of them
    // in another form than it was set.
    private static boolean same(ValidatingWebhookConfiguration found, ValidatingWebhookConfiguration desired) {
        List<ValidatingWebhook> webhooks = found.getWebhooks();
        return webhooks.size() == desired.getWebhooks().size()
                && IntStream.range(0, webhooks.size())
                        .allMatch(
                                i -> same(webhooks.get(i), desired.getWebhooks().get(i)));
    }

    private static boolean same(ValidatingWebhook found, ValidatingWebhook desired) {
        WebhookClientConfig foundClient = found.getClientConfig();
        WebhookClientConfig desiredClient = desired.getClientConfig();
        return Objects.equals(found.getName(), desired.getName())
                && Objects.equals(found.getFailurePolicy(), desired.getFailurePolicy())
                && Objects.equals(found.getTimeoutSeconds(), desired.getTimeoutSeconds())
                && Objects.equals(found.getNamespaceSelector(), desired.getNamespaceSelector())
                && Objects.equals(found.getMatchConditions(), desired.getMatchConditions())
                && Objects.equals(found.getRules(), desired.getRules())
                && Objects.equals(found.getSideEffects(), desired.getSideEffects())
                && Objects.equals(found.getMatchPolicy(), desired.getMatchPolicy())
                && Objects.equals(found.getAdmissionReviewVersions(), desired.getAdmissionReviewVersions())
                && Objects.equals(found.getObjectSelector(), desired.getObjectSelector())
                && Objects.equals(foundClient.getUrl(), desiredClient.getUrl())
                && Objects.equals(foundClient.getService(), desiredClient.getService())
                && Objects.equals(foundClient.getCaBundle(), desiredClient.getCaBundle());
    }

    private ValidatingWebhook pods(String name, String failurePolicy, String operator, String caPem) {
        return webhook(name, failurePolicy, caPem)
                .withNamespaceSelector(namespaces(operator))
                .withRules(new RuleWithOperationsBuilder()
                        .withOperations("CREATE")
                        .withApiGroups("")
                        .withApiVersions("v1")
                        .withResources("pods")
                        .withScope("Namespaced")
                        .build())
                .addNewMatchCondition(GpuMatchCondition.of(resources.get()), "requests-gpus")
                .build();
    }

    /** Those of a ResourceClaimTemplate are created by Kubernetes itself: their pods wait while they are refused. */
    private ValidatingWebhook claims(String name, String failurePolicy, String operator, String caPem) {
        return webhook(name, failurePolicy, caPem)
                .withNamespaceSelector(namespaces(operator))
                .withRules(new RuleWithOperationsBuilder()
                        .withOperations("CREATE")
                        .withApiGroups(ResourceClaimApi.CONTEXT.getGroup())
                        .withApiVersions(ResourceClaimApi.CONTEXT.getVersion())
                        .withResources(ResourceClaimApi.CONTEXT.getPlural())
                        .withScope("Namespaced")
                        .build())
                .build();
    }

    /** Warns the author of a quota; never refuses one. */
    private ValidatingWebhook quotas(String caPem) {
        return webhook("quotas", "Ignore", caPem)
                .withNamespaceSelector(new LabelSelector())
                .withRules(new RuleWithOperationsBuilder()
                        .withOperations("CREATE", "UPDATE")
                        .withApiGroups(GpuQuotaMapper.CONTEXT.getGroup())
                        .withApiVersions(GpuQuotaMapper.CONTEXT.getVersion())
                        .withResources(GpuQuotaMapper.CONTEXT.getPlural())
                        .withScope("Cluster")
                        .build())
                .build();
    }

    private ValidatingWebhookBuilder webhook(String name, String failurePolicy, String caPem) {
        return new ValidatingWebhookBuilder()
                .withName(name + ".quota.gpufleet.io")
                .withAdmissionReviewVersions("v1")
                .withSideEffects("NoneOnDryRun")
                .withFailurePolicy(failurePolicy)
                .withTimeoutSeconds(TIMEOUT_SECONDS)
                .withMatchPolicy("Equivalent")
                .withObjectSelector(new LabelSelector())
                .withClientConfig(clientConfig(caPem));
    }

    /** Leaves out kube-system and the own namespace: pods that the answer depends on must not wait for it. */
    private LabelSelector namespaces(String operator) {
        return new LabelSelectorBuilder()
                .addToMatchExpressions(new LabelSelectorRequirement(
                        "kubernetes.io/metadata.name", "NotIn", List.of("kube-system", namespace)))
                .addToMatchExpressions(
                        new LabelSelectorRequirement(QuotaLeader.NAMESPACE_LABEL, operator, List.of("enforce")))
                .build();
    }

    private WebhookClientConfig clientConfig(String caPem) {
        var builder = new WebhookClientConfigBuilder()
                .withCaBundle(Base64.getEncoder().encodeToString(caPem.getBytes(StandardCharsets.UTF_8)));
        return url.isEmpty()
                ? builder.withNewService(SERVICE, namespace, PATH + pathToken.get(), 443)
                        .build()
                : builder.withUrl(url.replaceAll("/+$", "") + "/" + pathToken.get())
                        .build();
    }
}
