package io.gpufleet.cli.install;

import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Objects of every kind, Events aside, whose name or namespace has the word gpufleet, but those of tests.
 *
 * @param names kind, namespace and name of each
 */
public record NamedObjects(Set<String> names) {
    /** Namespaces, quotas and pods that the tests make. */
    private static final String OF_TESTS = "gpufleet-it-";

    /** Those that are there now. */
    public static NamedObjects now(KubernetesClient client) {
        Stream<String> versions = Stream.concat(
                Stream.of("v1"),
                client.getApiGroups().getGroups().stream()
                        .map(group -> group.getPreferredVersion().getGroupVersion()));
        return new NamedObjects(versions.flatMap(version -> client.getApiResources(version).getResources().stream()
                        .filter(resource -> resource.getVerbs().contains("list"))
                        .filter(resource -> !resource.getKind().equals("Event"))
                        .flatMap(resource -> list(client, version, resource)))
                .filter(name -> name.contains("gpufleet") && !name.contains(OF_TESTS))
                .collect(Collectors.toCollection(TreeSet::new)));
    }

    private static Stream<String> list(KubernetesClient client, String version, APIResource resource) {
        int slash = version.indexOf('/');
        var context = new ResourceDefinitionContext.Builder()
                .withGroup(slash < 0 ? "" : version.substring(0, slash))
                .withVersion(version.substring(slash + 1))
                .withKind(resource.getKind())
                .withPlural(resource.getName())
                .withNamespaced(resource.getNamespaced())
                .build();
        var all = client.genericKubernetesResources(context);
        return (resource.getNamespaced() ? all.inAnyNamespace().list() : all.list())
                .getItems().stream().map(found -> resource.getKind() + " " + name(found));
    }

    private static String name(GenericKubernetesResource found) {
        String namespace = found.getMetadata().getNamespace();
        return (namespace == null ? "" : namespace + "/") + found.getMetadata().getName();
    }

    /** Those of now that were not there before. */
    public Set<String> since(NamedObjects before) {
        var since = new TreeSet<>(names);
        since.removeAll(before.names());
        return since;
    }
}
