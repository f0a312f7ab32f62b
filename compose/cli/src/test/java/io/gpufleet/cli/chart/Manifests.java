package io.gpufleet.cli.chart;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.Repository;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Objects as kustomize and Helm render them, by the programs themselves. */
public final class Manifests {
    static final Path CHART = Repository.module("k8s/helm/gpufleet");

    /** The oldest version that the chart takes; a Helm built from source assumes 1.20. */
    static final String KUBERNETES = "1.30.0";

    private static final Pattern DOCUMENT = Pattern.compile("(?m)^---$");
    /** The characters are those that kustomize writes hashes with. */
    private static final Pattern HASH = Pattern.compile("-[bcdfghkmt245-9]{10}$");

    private Manifests() {}

    /** The base with the components of these names; names of ConfigMaps without the hash that kustomize appends. */
    static Map<String, ObjectNode> kustomize(Path directory, String... components) throws IOException {
        Path k8s = Repository.module("k8s").toRealPath();
        Path overlay = Files.createTempDirectory(directory, "overlay").toRealPath();
        List<String> paths = Stream.of(components)
                .map(component -> overlay.relativize(k8s.resolve("components/" + component))
                        .toString())
                .toList();
        Files.writeString(
                overlay.resolve("kustomization.yaml"),
                "resources: [%s]%ncomponents: %s%n".formatted(overlay.relativize(k8s.resolve("base")), paths));
        return kustomized(overlay);
    }

    /** The objects of a kustomization; fails where kustomize does. */
    static Map<String, ObjectNode> kustomized(Path kustomization) {
        CommandOutput output = run("kubectl", "kustomize", kustomization.toString());
        if (output.status() != 0) {
            throw new AssertionError(output.text());
        }
        return byName(parse(output.text()));
    }

    /** The chart with further arguments such as {@code --set}; fails where Helm does. */
    static Map<String, ObjectNode> helm(String... arguments) {
        CommandOutput output = tryHelm(arguments);
        if (output.status() != 0) {
            throw new AssertionError(output.text());
        }
        return byName(parse(output.text()));
    }

    /** What {@code helm template} of the chart prints, or why it does not; skips the test where there is no Helm. */
    public static CommandOutput tryHelm(String... arguments) {
        var command = new ArrayList<>(
                List.of("helm", "template", "gpufleet", CHART.toString(), "--kube-version", KUBERNETES));
        command.addAll(List.of(arguments));
        return run(command.toArray(String[]::new));
    }

    /** Runs a program of the PATH; skips the test where it is not there. Its errors come last. */
    public static CommandOutput run(String... command) {
        assumeTrue(isOnPath(command[0]), "no " + command[0] + " here; k8s/helm/README.md says how to get it");
        try {
            Path errors = Files.createTempFile("errors", ".txt");
            Process process =
                    new ProcessBuilder(command).redirectError(errors.toFile()).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            String said = Files.readString(errors);
            Files.delete(errors);
            return new CommandOutput(status, status == 0 ? output : output + said);
        } catch (IOException failed) {
            throw new AssertionError(command[0] + " cannot be run", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    /** Whether a program is on the PATH. */
    public static boolean isOnPath(String program) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }

    private static List<ObjectNode> parse(String documents) {
        var yaml = new KubernetesSerialization();
        return DOCUMENT.splitAsStream(documents)
                .filter(document -> document.contains("kind:"))
                .map(document -> yaml.unmarshal(document, ObjectNode.class))
                .toList();
    }

    private static Map<String, ObjectNode> byName(List<ObjectNode> objects) {
        var byName = new TreeMap<String, ObjectNode>();
        for (ObjectNode object : objects) {
            ObjectNode metadata = (ObjectNode) object.path("metadata");
            if (object.path("kind").asText().equals("ConfigMap")) {
                metadata.put("name", withoutHash(metadata.path("name").asText()));
            }
            for (var reference : object.findValues("configMapRef")) {
                ((ObjectNode) reference)
                        .put("name", withoutHash(reference.path("name").asText()));
            }
            byName.put(
                    "%s %s/%s"
                            .formatted(
                                    object.path("kind").asText(),
                                    metadata.path("namespace").asText("-"),
                                    metadata.path("name").asText()),
                    object);
        }
        return byName;
    }

    private static String withoutHash(String name) {
        return HASH.matcher(name).replaceFirst("");
    }
}
