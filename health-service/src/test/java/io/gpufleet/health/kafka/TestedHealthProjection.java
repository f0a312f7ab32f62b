package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.runtime.consistency.TestEvent;
import io.gpufleet.runtime.consistency.TestedProjection;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Nodes with four GPUs: of two in four come and go faults, of the third operators' commands, of the fourth devices. */
final class TestedHealthProjection implements TestedProjection<NodeState> {
    private static final int GPUS = 4;
    private static final List<Integer> XIDS = List.of(13, 48, 63, 74, 79, 92, 95);
    private static final List<Command> COMMANDS = List.of(Command.COMMAND_QUARANTINE, Command.COMMAND_RELEASE);

    @Override
    public Projection<NodeState> create() {
        // Nothing is returned to service by time alone while a test runs.
        return new HealthProjection(
                new HealthMachine(TestPolicies.withRecoveryDwell(Duration.ofDays(1)), Duration.ofMinutes(10)),
                DisruptionBudgets.NONE);
    }

    @Override
    public TestEvent first(String node) {
        return announced(node, GPUS);
    }

    @Override
    public TestEvent next(String node, Random random) {
        return switch (Math.floorMod(node.hashCode(), 4)) {
            case 0 -> command(node, random);
            case 1 -> announced(node, 1 + random.nextInt(GPUS));
            default -> fault(node, random);
        };
    }

    private static TestEvent announced(String node, int gpus) {
        var event = NodeAnnounced.newBuilder().setBootId("boot-" + node);
        IntStream.range(0, gpus).forEach(i -> event.addGpus(Gpu.newBuilder().setUuid(gpu(node, i))));
        return new TestEvent(Topic.INVENTORY, EventType.NODE_ANNOUNCED, event.build());
    }

    private static TestEvent command(String node, Random random) {
        return new TestEvent(
                Topic.SIGNALS,
                EventType.COMMAND_ISSUED,
                OperatorCommand.newBuilder()
                        .setCommand(COMMANDS.get(random.nextInt(COMMANDS.size())))
                        .setDeviceUuid(gpu(node, random.nextInt(GPUS)))
                        .setUser("admin")
                        .setReason("test")
                        .build());
    }

    private static TestEvent fault(String node, Random random) {
        Fault fault = Fault.newBuilder()
                .setDeviceUuid(gpu(node, random.nextInt(GPUS)))
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(XIDS.get(random.nextInt(XIDS.size())))
                .build();
        return random.nextBoolean()
                ? new TestEvent(
                        Topic.HEALTH,
                        EventType.FAULT_OBSERVED,
                        FaultObserved.newBuilder()
                                .setBootId("boot-" + node)
                                .setFault(fault)
                                .build())
                : new TestEvent(
                        Topic.HEALTH,
                        EventType.FAULT_CLEARED,
                        FaultCleared.newBuilder()
                                .setBootId("boot-" + node)
                                .setFault(fault)
                                .setProof("quiet")
                                .build());
    }

    private static String gpu(String node, int index) {
        return "GPU-" + node + "-" + index;
    }

    /** A revision is at least the time of its commit, and so is a taint. */
    @Override
    public Message withoutTimes(Message message) {
        return switch (message) {
            case NodeHealthState state ->
                state.toBuilder()
                        .clearVerdictRevision()
                        .clearCauseRevision()
                        .clearPolicyTainted()
                        .build();
            case NodeVerdict verdict -> verdict.toBuilder().clearRevision().build();
            case DecisionTaken decision ->
                decision.toBuilder().clearVerdictRevision().build();
            default -> message;
        };
    }
}
