package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.fabric8.kubernetes.api.model.NodeSystemInfoBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The Node object of a fake kubelet. */
final class SimulatedNode {
    /** Label of Nodes without a machine. */
    static final String SIMULATED = "gpufleet.io/simulated";

    private static final Map<String, Quantity> MACHINE = Map.of(
            "cpu", new Quantity("64"),
            "memory", new Quantity("512Gi"),
            "ephemeral-storage", new Quantity("1Ti"),
            "pods", new Quantity("110"));

    private SimulatedNode() {}

    /** The object that a kubelet creates when it registers its node. */
    static Node node(String name) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kubernetes.io/hostname", name)
                .addToLabels("kubernetes.io/os", "linux")
                .addToLabels("kubernetes.io/arch", arch())
                .addToLabels(SIMULATED, "true")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
    }

    /** The new status: conditions of other writers are kept, resources are those of registered plugins. */
    static NodeStatus status(
            @Nullable NodeStatus old,
            String name,
            String bootId,
            Map<String, AdvertisedResource> resources,
            Instant now) {
        NodeStatus from = old == null ? new NodeStatus() : old;
        return new NodeStatusBuilder(from)
                .withCapacity(quantities(resources, true))
                .withAllocatable(quantities(resources, false))
                .withConditions(conditions(from, now))
                .withNodeInfo(info(name, bootId))
                .withAddresses()
                .addNewAddress("127.0.0.1", "InternalIP")
                .addNewAddress(name, "Hostname")
                .build();
    }

    private static Map<String, Quantity> quantities(Map<String, AdvertisedResource> resources, boolean capacity) {
        var quantities = new LinkedHashMap<>(MACHINE);
        resources.forEach((name, view) ->
                quantities.put(name, new Quantity(Integer.toString(capacity ? view.capacity() : view.allocatable()))));
        return quantities;
    }

    private static List<NodeCondition> conditions(NodeStatus old, Instant now) {
        String timestamp = timestamp(now);
        var conditions = new ArrayList<NodeCondition>();
        String since = timestamp;
        for (NodeCondition condition : old.getConditions()) {
            if (!condition.getType().equals("Ready")) {
                conditions.add(condition);
            } else if ("True".equals(condition.getStatus())) {
                since = condition.getLastTransitionTime();
            }
        }
        conditions.add(new NodeConditionBuilder()
                .withType("Ready")
                .withStatus("True")
                .withReason("KubeletReady")
                .withMessage("fake kubelet is posting ready status")
                .withLastHeartbeatTime(timestamp)
                .withLastTransitionTime(since)
                .build());
        return conditions;
    }

    private static NodeSystemInfo info(String name, String bootId) {
        String id =
                UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
        return new NodeSystemInfoBuilder()
                .withMachineID(id.replace("-", ""))
                .withSystemUUID(id)
                .withBootID(bootId)
                .withKernelVersion(System.getProperty("os.version"))
                .withOsImage("gpufleet simulated node")
                .withContainerRuntimeVersion("simulated://1")
                .withKubeletVersion("v1.34.0-simulated")
                .withKubeProxyVersion("")
                .withOperatingSystem("linux")
                .withArchitecture(arch())
                .build();
    }

    /** Precision of Kubernetes timestamps. */
    static String timestamp(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static String arch() {
        String arch = System.getProperty("os.arch", "amd64").toLowerCase(Locale.ROOT);
        return arch.equals("aarch64") ? "arm64" : arch;
    }
}
