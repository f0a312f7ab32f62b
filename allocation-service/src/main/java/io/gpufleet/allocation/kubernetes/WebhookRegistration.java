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
import io.gpufleet.allocation.app.QuotaTerm;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The ValidatingWebhookConfiguration by which pods that ask for GPUs reach us. */
public final class WebhookRegistration {
    /** Name of the configuration. */
    public static final String NAME = "gpufleet-quota";

    /** The Service that leads to the webhook port. */
    public static final String SERVICE = "allocation-service";

    /** Path of the webhook. */
    public static final String PATH = "/admit";

    private static final Logger LOG = LoggerFactory.getLogger(WebhookRegistration.class);
    private static final int TIMEOUT_SECONDS = 3;
    private static final String ASKS = "(has(c.resources) && ((has(c.resources.limits) && c.resources.limits.exists(r, "
            + "r.startsWith('nvidia.com/gpu') || r.startsWith('nvidia.com/mig-'))) || (has(c.resources.requests) && "
            + "c.resources.requests.exists(r, r.startsWith('nvidia.com/gpu') || r.startsWith('nvidia.com/mig-')))))";
    private static final String ASKS_FOR_GPUS = "object.spec.containers.exists(c, " + ASKS
            + ") || (has(object.spec.initContainers) && object.spec.initContainers.exists(c, " + ASKS + "))";

    private final KubernetesClient client;
    private final String namespace;
    private final String url;

    /** Registers {@code url}, or the Service of the namespace where that is empty. */
    public WebhookRegistration(KubernetesClient client, String namespace, String url) {
        this.client = client;
        this.namespace = namespace;
        this.url = url;
    }

    /** Makes the configuration what it has to be; true when it is. */
    public boolean ensure(String caPem) {
        ValidatingWebhookConfiguration wanted = new ValidatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .withName(NAME)
                .addToLabels("app.kubernetes.io/part-of", "gpufleet")
                .endMetadata()
                .withWebhooks(hook("enforced", "Fail", "In", caPem), hook("open", "Ignore", "NotIn", caPem))
                .build();
        var configurations = client.admissionRegistration().v1().validatingWebhookConfigurations();
        try {
            ValidatingWebhookConfiguration found = configurations.withName(NAME).get();
            if (found == null) {
                configurations.resource(wanted).create();
            } else if (!same(found, wanted)) {
                wanted.getMetadata().setResourceVersion(found.getMetadata().getResourceVersion());
                configurations.resource(wanted).update();
            } else {
                return true;
            }
            LOG.atInfo().addKeyValue("configuration", NAME).log("webhook registered");
            return true;
        } catch (KubernetesClientException failed) {
            LOG.atWarn()
                    .addKeyValue("error", Failure.line(failed))
                    .log("webhook could not be registered, trying again");
            return false;
        }
    }

    // What the server fills in is none of our business; what we say is.
    private static boolean same(ValidatingWebhookConfiguration found, ValidatingWebhookConfiguration wanted) {
        List<ValidatingWebhook> has = found.getWebhooks();
        return has.size() == wanted.getWebhooks().size()
                && java.util.stream.IntStream.range(0, has.size())
                        .allMatch(i -> same(has.get(i), wanted.getWebhooks().get(i)));
    }

    private static boolean same(ValidatingWebhook has, ValidatingWebhook wants) {
        WebhookClientConfig client = has.getClientConfig();
        WebhookClientConfig wanted = wants.getClientConfig();
        return Objects.equals(has.getName(), wants.getName())
                && Objects.equals(has.getFailurePolicy(), wants.getFailurePolicy())
                && Objects.equals(has.getTimeoutSeconds(), wants.getTimeoutSeconds())
                && Objects.equals(has.getNamespaceSelector(), wants.getNamespaceSelector())
                && Objects.equals(has.getMatchConditions(), wants.getMatchConditions())
                && Objects.equals(client.getUrl(), wanted.getUrl())
                && Objects.equals(client.getService(), wanted.getService())
                && Objects.equals(client.getCaBundle(), wanted.getCaBundle());
    }

    private ValidatingWebhook hook(String name, String failurePolicy, String operator, String caPem) {
        return new ValidatingWebhookBuilder()
                .withName(name + ".quota.gpufleet.io")
                .withAdmissionReviewVersions("v1")
                .withSideEffects("NoneOnDryRun")
                .withFailurePolicy(failurePolicy)
                .withTimeoutSeconds(TIMEOUT_SECONDS)
                .withMatchPolicy("Equivalent")
                .withNamespaceSelector(namespaces(operator))
                .withRules(new RuleWithOperationsBuilder()
                        .withOperations("CREATE")
                        .withApiGroups("")
                        .withApiVersions("v1")
                        .withResources("pods")
                        .withScope("Namespaced")
                        .build())
                .addNewMatchCondition(ASKS_FOR_GPUS, "asks-for-gpus")
                .withClientConfig(where(caPem))
                .build();
    }

    /** Own namespace and kube-system are left out: nothing that is needed to answer may wait for the answer. */
    private LabelSelector namespaces(String operator) {
        return new LabelSelectorBuilder()
                .addToMatchExpressions(new LabelSelectorRequirement(
                        "kubernetes.io/metadata.name", "NotIn", List.of("kube-system", namespace)))
                .addToMatchExpressions(new LabelSelectorRequirement(QuotaTerm.LABEL, operator, List.of("enforce")))
                .build();
    }

    private WebhookClientConfig where(String caPem) {
        var builder = new WebhookClientConfigBuilder()
                .withCaBundle(Base64.getEncoder().encodeToString(caPem.getBytes(StandardCharsets.UTF_8)));
        return url.isEmpty()
                ? builder.withNewService(SERVICE, namespace, PATH, 443).build()
                : builder.withUrl(url).build();
    }
}
