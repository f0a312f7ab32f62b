package io.gpufleet.cli.chart;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Overlays of several parts of k8s/, combined as the pages say, each a kustomization of its own in a directory. */
public final class Combinations {
    private static final Path K8S = Repository.module("k8s");

    private final Path directory;
    private final Map<String, Path> written = new TreeMap<>();

    private Combinations(Path directory) {
        this.directory = directory;
    }

    /** Kafka's two components, a copy of the example on each platform, and one with its node selector; by name. */
    public static Map<String, Path> write(Path directory) throws IOException {
        var combinations = new Combinations(directory.toRealPath());
        combinations.write(
                "strimzi-by-kafka-client",
                "resources: [../../base]\ncomponents: [../../components/kafka-client, ../../components/strimzi]\n");
        String example = Files.readString(K8S.resolve("overlays/example/kustomization.yaml"));
        for (Path platform : platforms()) {
            combinations.write(
                    "example-on-" + platform.getFileName(),
                    example + "components: [../../platforms/%s]\n".formatted(platform.getFileName()));
        }
        combinations.write("example-with-node-selector", example.replaceAll("(?m)^# (patches:|  .*)$", "$1"));
        return combinations.written;
    }

    private static List<Path> platforms() throws IOException {
        try (Stream<Path> files = Files.list(K8S.resolve("platforms"))) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    private void write(String name, String kustomization) throws IOException {
        Path overlay = Files.createDirectories(directory.resolve(name));
        Files.copy(K8S.resolve("overlays/example/fleet.env"), overlay.resolve("fleet.env"));
        Files.writeString(
                overlay.resolve("kustomization.yaml"),
                kustomization.replace("../../", overlay.relativize(K8S.toRealPath()) + "/"));
        written.put(name, overlay);
    }
}
