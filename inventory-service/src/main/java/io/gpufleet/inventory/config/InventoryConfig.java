package io.gpufleet.inventory.config;

import io.gpufleet.inventory.app.LabelMode;
import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.taint.NodeTaint;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.tls.CertificateSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Configuration of one replica beside the bus.
 *
 * @param listen addresses of the servers
 * @param labels enabled labels
 * @param taints taints of Nodes with GPUs
 * @param labelMode whether labels and taints are written
 * @param reads who may read
 */
public record InventoryConfig(
        Listen listen, Set<LabelGroup> labels, Set<NodeTaint> taints, LabelMode labelMode, ReadsMode reads) {
    /** Address of HTTP and gRPC, their ports and their certificate. */
    public record Listen(String host, int httpPort, int grpcPort, CertificateSettings certificate) {}

    private static final String ALL_LABELS =
            Arrays.stream(LabelGroup.values()).map(LabelGroup::configName).collect(Collectors.joining(","));

    /** The variables that {@link #from} reads. */
    public static final List<Setting> SETTINGS = Stream.concat(
                    CertificateSettings.settings().stream(),
                    Stream.of(
                            Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address of the HTTP and gRPC servers"),
                            Setting.optional(
                                    "GPUFLEET_HTTP_PORT",
                                    "8080",
                                    "port of REST, probes and metrics; 0 chooses a free port"),
                            Setting.optional("GPUFLEET_GRPC_PORT", "9090", "port of gRPC; 0 chooses a free port"),
                            ReadsMode.setting("list nodes.gpufleet.io"),
                            Setting.optional(
                                    "GPUFLEET_LABELS",
                                    ALL_LABELS,
                                    "groups of Node labels to apply; none applies no label"),
                            Setting.optional(
                                    "GPUFLEET_LABELS_MODE",
                                    "write",
                                    "write, or observe: differences are logged, no Node is written"),
                            Setting.optional(
                                    "GPUFLEET_NODE_TAINT",
                                    "none",
                                    "taints of Nodes with GPUs, key=value:Effect separated by commas"),
                            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
                            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO or DEBUG")))
            .toList();

    /** Copies the sets. */
    public InventoryConfig {
        labels = Set.copyOf(labels);
        taints = Set.copyOf(taints);
    }

    /** Reads the environment; an invalid value is an error that lists the valid ones. */
    public static InventoryConfig from(Environment environment) {
        Listen listen = listen(environment);
        return new InventoryConfig(
                listen,
                labels(environment),
                taints(environment),
                labelMode(environment),
                ReadsMode.of(environment, listen.host()));
    }

    private static Listen listen(Environment environment) {
        return new Listen(
                environment.text("GPUFLEET_HTTP_HOST"),
                environment.integer("GPUFLEET_HTTP_PORT", 0, 65_535),
                environment.integer("GPUFLEET_GRPC_PORT", 0, 65_535),
                CertificateSettings.of(environment));
    }

    private static Set<LabelGroup> labels(Environment environment) {
        String text = environment.text("GPUFLEET_LABELS");
        var groups = EnumSet.noneOf(LabelGroup.class);
        if (text.equals("none")) {
            return groups;
        }
        for (String name : text.split(",", -1)) {
            groups.add(LabelGroup.byConfigName(name.strip())
                    .orElseThrow(() -> environment.invalid("GPUFLEET_LABELS", "none, or some of " + ALL_LABELS)));
        }
        return groups;
    }

    private static Set<NodeTaint> taints(Environment environment) {
        String text = environment.text("GPUFLEET_NODE_TAINT");
        var taints = new ArrayList<NodeTaint>();
        if (text.equals("none")) {
            return Set.of();
        }
        for (String part : text.split(",", -1)) {
            NodeTaint taint = NodeTaint.parse(part.strip())
                    .filter(valid -> !reserved(valid) && taints.stream().noneMatch(valid::sameIdentity))
                    .orElseThrow(() -> environment.invalid(
                            "GPUFLEET_NODE_TAINT",
                            "none, or key=value:NoSchedule, each key and effect once, keys of Kubernetes and "
                                    + "gpufleet.io excepted"));
            taints.add(taint);
        }
        return Set.copyOf(taints);
    }

    /** The control plane and the health-service remove and set these by themselves. */
    private static boolean reserved(NodeTaint taint) {
        String prefix = taint.key().replaceFirst("/.*", "");
        return prefix.endsWith("kubernetes.io") || prefix.equals("gpufleet.io");
    }

    private static LabelMode labelMode(Environment environment) {
        return switch (environment.text("GPUFLEET_LABELS_MODE")) {
            case "observe" -> LabelMode.OBSERVE;
            case "write" -> LabelMode.WRITE;
            default -> throw environment.invalid("GPUFLEET_LABELS_MODE", "observe or write");
        };
    }
}
