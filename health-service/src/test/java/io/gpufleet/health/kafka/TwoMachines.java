package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.Optional;

/** Two machines with a Node each, and what is decided about gpu-0, which is in the first one at the start. */
final class TwoMachines {
    static final String OLD = "node-1";
    static final String NEW = "node-2";
    /** XID of class taint-hardware. */
    static final int HARDWARE = 54;
    /** XID that a boot repairs. */
    static final int NEEDS_BOOT = 79;
    /** XID that a reset repairs. */
    static final int NEEDS_RESET = 48;

    private ProjectedNodes nodes;

    TwoMachines(Duration recoveryDwell) {
        nodes = new ProjectedNodes(projection(recoveryDwell), NodeScenario.START);
        registered(OLD);
        registered(NEW);
        announced(OLD, 1, "gpu-0@slot-0", "gpu-1@slot-1");
        announced(NEW, 1, "gpu-8@slot-8");
    }

    void advance(Duration time) {
        nodes.advance(time);
    }

    void tick(String node) {
        nodes.tick(node);
    }

    /** The next replica goes on with what the changelog kept. */
    void restart() {
        nodes = nodes.restored(projection(Duration.ZERO));
    }

    private static HealthProjection projection(Duration dwell) {
        return new HealthProjection(
                new HealthMachine(TestPolicies.withRecoveryDwell(dwell), Duration.ofMinutes(10)),
                DisruptionBudgets.NONE);
    }

    void registered(String node) {
        nodes.service(
                node,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder().setUid("uid-" + node))
                        .build());
    }

    void deleted(String node) {
        nodes.service(
                node,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid("uid-" + node))
                        .build());
    }

    /** GPUs as uuid@slot. */
    void announced(String node, int boot, String... gpus) {
        nodes.daemon(node, boot, Topic.INVENTORY, EventType.NODE_ANNOUNCED, announcement(boot(node, boot), gpus));
    }

    /** Another machine has the name of the node now. */
    void anotherMachine(String node, String... gpus) {
        nodes.newMachine(node, Topic.INVENTORY, EventType.NODE_ANNOUNCED, announcement("another-machine", gpus));
    }

    private static NodeAnnounced announcement(String bootId, String... gpus) {
        var announced = NodeAnnounced.newBuilder().setBootId(bootId);
        for (String gpu : gpus) {
            String[] parts = gpu.split("@", -1);
            announced.addGpus(Gpu.newBuilder().setUuid(parts[0]).setPciBusId(parts[1]));
        }
        return announced.build();
    }

    static String boot(String node, int boot) {
        return node + "-boot-" + boot;
    }

    private static Fault fault(int xid) {
        return Fault.newBuilder()
                .setDeviceUuid("gpu-0")
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .build();
    }

    void observed(String node, int boot, int xid) {
        nodes.daemon(
                node,
                boot,
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId(boot(node, boot))
                        .setFault(fault(xid))
                        .build());
    }

    void cleared(String node, int boot, int xid, String proof) {
        nodes.daemon(
                node,
                boot,
                Topic.HEALTH,
                EventType.FAULT_CLEARED,
                FaultCleared.newBuilder()
                        .setBootId(boot(node, boot))
                        .setFault(fault(xid))
                        .setProof(proof)
                        .build());
    }

    void noOpenFaults(String node, int boot) {
        nodes.daemon(
                node,
                boot,
                Topic.HEALTH,
                EventType.FAULTS_OPEN,
                OpenFaults.newBuilder().setBootId(boot(node, boot)).build());
    }

    void issued(Command command, String node, String device) {
        nodes.service(
                node,
                EventType.COMMAND_ISSUED,
                OperatorCommand.newBuilder()
                        .setCommand(command)
                        .setDeviceUuid(device)
                        .setUser("ada")
                        .setReason("fan")
                        .build());
    }

    NodeState state(String node) {
        return nodes.get(node).orElseThrow();
    }

    Optional<Device> gpu(String node) {
        return state(node).device("gpu-0");
    }

    DeviceHealth health(String node) {
        return gpu(node).orElseThrow().health();
    }

    void isUntouched(String node) {
        assertThat(Verdict.of(state(node)).trusted()).as(node + " is trusted").isTrue();
        assertThat(Verdict.of(state(node)).devices()).as("devices of " + node).isEmpty();
        assertThat(state(node).heldBack()).isEmpty();
    }
}
