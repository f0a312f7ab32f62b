package io.gpufleet.cli.manifests;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The files of k8s/, as tests read them. */
public final class ManifestFiles {
    /** The tag of the images of this tree: the version of its pom without the suffix of an unfinished one. */
    public static final String RELEASE = BuildInfo.current().version().replace("-SNAPSHOT", "");

    /** Every image of the manifests. */
    public static final List<String> IMAGES = List.of(
            "gpufleet/node-daemon",
            "gpufleet/inventory-service",
            "gpufleet/health-service",
            "gpufleet/allocation-service",
            "gpufleet/cli");

    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private ManifestFiles() {}

    /** Every object of every manifest but the chart, which is compared with them by HelmChartTest. */
    public static List<HasMetadata> objects() {
        return files().stream()
                .filter(file -> !file.endsWith("kustomization.yaml"))
                .flatMap(file -> objects(file).stream())
                .toList();
    }

    /** Every kustomization by its path. */
    static Map<Path, JsonNode> kustomizations() {
        var kustomizations = new TreeMap<Path, JsonNode>();
        files().stream()
                .filter(file -> file.endsWith("kustomization.yaml"))
                .forEach(file -> kustomizations.put(file, YAML.unmarshal(text(file), JsonNode.class)));
        return kustomizations;
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failed) {
            throw new AssertionError(file + " cannot be read", failed);
        }
    }

    /** The objects of one file. */
    static List<HasMetadata> objects(Path file) {
        Object parsed = YAML.unmarshal(text(file));
        var objects = new ArrayList<HasMetadata>();
        for (Object each : parsed instanceof Collection<?> several ? several : List.of(parsed)) {
            if (each instanceof HasMetadata object) {
                objects.add(object);
            }
        }
        return objects;
    }

    private static List<Path> files() {
        try (Stream<Path> files = Files.walk(Repository.module("k8s"))) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    // Templates of what an executor creates, with places for values; ExecutorClusterIT fills them.
                    .filter(file -> !file.startsWith(Repository.module("k8s/components/remediation/executors")))
                    .filter(file -> !file.startsWith(Repository.module("k8s/helm")))
                    .toList();
        } catch (IOException failed) {
            throw new AssertionError("k8s cannot be read", failed);
        }
    }
}
