package io.gpufleet.compose.kubeapi.type;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import java.util.List;

/**
 * One served resource in one version.
 *
 * @param resource group and plural
 * @param version such as {@code v1}
 * @param singular for people
 * @param kind such as {@code Node}
 * @param namespaced whether its objects live in namespaces
 * @param shortNames what kubectl lets people type
 * @param status whether status is written through a subresource of its own
 * @param columns additionalPrinterColumns of a custom resource
 * @param schema OpenAPI schema of a custom resource, a missing node for built-in ones
 */
public record ResourceType(
        GroupResource resource,
        String version,
        String singular,
        String kind,
        boolean namespaced,
        List<String> shortNames,
        boolean status,
        JsonNode columns,
        JsonNode schema) {
    /** {@code v1} or {@code apps/v1}. */
    public String apiVersion() {
        return resource.group().isEmpty() ? version : resource.group() + "/" + version;
    }

    /** Whether it comes from a definition that somebody created. */
    public boolean custom() {
        return !schema.isMissingNode();
    }

    /** Whether it is this core resource. */
    public boolean isCore(String plural) {
        return resource.group().isEmpty() && resource.plural().equals(plural);
    }

    /** Whether metadata counts generations of the spec. */
    public boolean countsGenerations() {
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
