package io.gpufleet.testbed.fakeapiserver.type;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import java.util.List;

/**
 * One served resource in one version.
 *
 * @param resource group and plural
 * @param version such as {@code v1}
 * @param names names beside the plural
 * @param namespaced true for namespaced objects
 * @param status true with a status subresource
 * @param columns additionalPrinterColumns of a custom resource
 * @param schema OpenAPI schema of a custom resource, a missing node for built-in ones
 */
public record ResourceType(
        GroupResource resource,
        String version,
        Names names,
        boolean namespaced,
        boolean status,
        JsonNode columns,
        JsonNode schema) {
    /**
     * Names of a resource beside its plural, as {@code spec.names} of a CustomResourceDefinition.
     *
     * @param singular singular name
     * @param kind such as {@code Node}
     * @param shortNames short names for kubectl
     */
    public record Names(String singular, String kind, List<String> shortNames) {}

    /** Singular name. */
    public String singular() {
        return names.singular();
    }

    /** Such as {@code Node}. */
    public String kind() {
        return names.kind();
    }

    /** Short names for kubectl. */
    public List<String> shortNames() {
        return names.shortNames();
    }

    /** {@code v1} or {@code apps/v1}. */
    public String apiVersion() {
        return resource.group().isEmpty() ? version : resource.group() + "/" + version;
    }

    /** True for a resource of a CustomResourceDefinition. */
    public boolean custom() {
        return !schema.isMissingNode();
    }

    /** True for this core resource. */
    public boolean isCore(String plural) {
        return resource.group().isEmpty() && resource.plural().equals(plural);
    }

    /** True when metadata has a generation. */
    public boolean hasGeneration() {
        return custom()
                || switch (resource.plural()) {
                    case "pods",
                            "deployments",
                            "daemonsets",
                            "statefulsets",
                            "replicasets",
                            "jobs",
                            "cronjobs",
                            "validatingwebhookconfigurations",
                            "mutatingwebhookconfigurations",
                            "customresourcedefinitions",
                            "poddisruptionbudgets" -> true;
                    default -> false;
                };
    }
}
