package io.gpufleet.cli.schema;

import io.gpufleet.cli.chart.Combinations;
import io.gpufleet.cli.chart.Manifests;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Everything below k8s/ that somebody may apply, each as one file of objects in a directory. */
final class RenderedManifests {
    private static final Path K8S = Repository.module("k8s");

    private final Path directory;
    private final List<Path> files = new ArrayList<>();

    private RenderedManifests(Path directory) {
        this.directory = directory;
    }

    /** Overlays, components and platforms on the base, combinations of them, definitions, samples, Jobs of remediation, the chart. */
    static List<Path> render(Path directory) throws IOException {
        var rendered = new RenderedManifests(directory.toRealPath());
        rendered.kustomize("base/crds", K8S.resolve("base/crds"));
        rendered.kustomize("purge", K8S.resolve("purge"));
        rendered.kustomize("kafka", K8S.resolve("kafka"));
        for (Path overlay : kustomizations("overlays")) {
            rendered.kustomize(name(overlay), overlay);
        }
        for (String kind : List.of("components", "platforms")) {
            for (Path component : kustomizations(kind)) {
                rendered.kustomize(name(component), rendered.overlayOf(component));
            }
        }
        for (var combination : Combinations.write(Files.createDirectory(directory.resolve("combinations")))
                .entrySet()) {
            rendered.kustomize(combination.getKey(), combination.getValue());
        }
        for (Path file : Stream.concat(
                        below("samples", ".yaml").stream(),
                        below("components/remediation/executors/job", ".yaml").stream())
                .toList()) {
            rendered.write(name(file), Files.readString(file));
        }
        rendered.write(
                "chart",
                succeeded(Manifests.tryHelm(
                        "--include-crds",
                        "--set",
                        "components.kafka-client=true,components.monitoring=true"
                                + ",components.network-policies=true,components.drain=true")));
        return List.copyOf(rendered.files);
    }

    private static List<Path> below(String path, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(K8S.resolve(path))) {
            return all.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
        }
    }

    private static List<Path> kustomizations(String path) throws IOException {
        return below(path, "/kustomization.yaml").stream().map(Path::getParent).toList();
    }

    private static String name(Path path) {
        return K8S.relativize(path).toString();
    }

    private void kustomize(String name, Path kustomization) throws IOException {
        write(name, succeeded(Manifests.run("kubectl", "kustomize", kustomization.toString())));
    }

    private Path overlayOf(Path component) throws IOException {
        Path overlay = Files.createTempDirectory(directory, "overlay");
        Files.writeString(
                overlay.resolve("kustomization.yaml"),
                "resources: [%s]%ncomponents: [%s]%n"
                        .formatted(
                                overlay.relativize(K8S.toRealPath().resolve("base")),
                                overlay.relativize(component.toRealPath())));
        return overlay;
    }

    private void write(String name, String objects) throws IOException {
        files.add(Files.writeString(directory.resolve(name.replaceAll("[/.]", "-") + ".yaml"), objects));
    }

    private static String succeeded(CommandOutput output) {
        if (output.status() != 0) {
            throw new AssertionError(output.text());
        }
        return output.text();
    }
}
