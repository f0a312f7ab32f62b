package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Random signals of a node with three GPUs over two boots, by topic. */
public final class RandomSignals {
    private static final List<String> GPUS = List.of("gpu-0", "gpu-1", "gpu-2");
    /** Clearing has no place here: what it forgets depends on what was read before it. */
    private static final List<Command> COMMANDS = List.of(Command.QUARANTINE, Command.RELEASE, Command.RETIRE);

    private static final int[] XIDS = {13, 63, 92, 48, 95, 74, 79, 54};
    private static final RecoveryAction[] ACTIONS = {
        RecoveryAction.NONE,
        RecoveryAction.NONE,
        RecoveryAction.UNSPECIFIED,
        RecoveryAction.GPU_RESET,
        RecoveryAction.NODE_REBOOT,
        RecoveryAction.RECOVER_IMEX_DOMAIN,
        RecoveryAction.UNKNOWN
    };
    private static final FaultKind[] NODE_KINDS = {
        FaultKind.DRIVER, FaultKind.GPU_MISSING, FaultKind.FABRIC, FaultKind.EVENT_WAIT
    };
    private static final Duration OLD = Duration.ofMinutes(11);

    private final Random random;
    private Instant at = NodeScenario.START;
    private int events;
    /** GPUs that a boot reports about. */
    private final Set<String> reported = new HashSet<>();

    private RandomSignals(long seed) {
        this.random = new Random(seed);
    }

    /** Lists of signals, one for each topic; the order within each is the order on the log. */
    public static List<List<HealthSignal>> of(long seed) {
        var generator = new RandomSignals(seed);
        List<HealthSignal> health = new ArrayList<>();
        List<HealthSignal> inventory = new ArrayList<>();
        List<HealthSignal> signals = new ArrayList<>();
        for (DaemonIncarnation boot :
                List.of(new DaemonIncarnation("boot-1", 1_000, false), new DaemonIncarnation("boot-2", 2_000, false))) {
            generator.reported.clear();
            for (int i = generator.random.nextInt(8); i >= 0; i--) {
                health.add(generator.healthSignal(boot));
            }
            for (int i = generator.random.nextInt(3); i >= 0; i--) {
                inventory.add(generator.announced(boot));
            }
        }
        for (int i = generator.random.nextInt(6); i > 0; i--) {
            signals.add(generator.operatorSignal());
        }
        return List.of(health, inventory, signals);
    }

    /**
     * One order in which the topics can be read. Of two boots the earlier one is read first: a fault that is read after the
     * next boot has announced its devices is not always known to be over, see {@code FaultsOverBootsTest}.
     */
    public static List<HealthSignal> interleaved(List<List<HealthSignal>> topics, long seed) {
        var order = new Random(seed);
        List<List<HealthSignal>> left = new ArrayList<>();
        topics.forEach(topic -> left.add(new ArrayList<>(topic)));
        List<HealthSignal> read = new ArrayList<>();
        left.removeIf(List::isEmpty);
        while (!left.isEmpty()) {
            long boot = left.stream()
                    .mapToLong(topic -> epoch(topic.getFirst()))
                    .filter(epoch -> epoch > 0)
                    .min()
                    .orElse(0);
            List<List<HealthSignal>> readable = left.stream()
                    .filter(topic -> epoch(topic.getFirst()) <= boot)
                    .toList();
            List<HealthSignal> next = readable.get(order.nextInt(readable.size()));
            read.add(next.removeFirst());
            left.removeIf(List::isEmpty);
        }
        return read;
    }

    private static long epoch(HealthSignal signal) {
        return signal instanceof HealthSignal.DaemonSignal reported
                ? reported.incarnation().epoch()
                : 0;
    }

    private HealthSignal healthSignal(DaemonIncarnation boot) {
        EventMetadata metadata = nextMetadata();
        String gpu = randomGpu();
        FaultCode code = randomCode();
        return switch (random.nextInt(8)) {
            case 6 ->
                new HealthSignal.FaultObserved(
                        metadata,
                        boot,
                        reported("", FaultCode.of(NODE_KINDS[random.nextInt(NODE_KINDS.length)])),
                        "",
                        List.of());
            case 7 ->
                new HealthSignal.FaultCleared(
                        metadata, boot, "", FaultCode.of(NODE_KINDS[random.nextInt(NODE_KINDS.length)]), "quiet");
            case 0 -> new HealthSignal.FaultCleared(metadata, boot, gpu, code, "quiet");
            case 1 -> new HealthSignal.LocalHealthChanged(metadata, boot, gpu, random.nextBoolean());
            case 2 ->
                new HealthSignal.FaultsOpen(
                        metadata, boot, open(), Map.of(gpu, random.nextBoolean()), random.nextInt(2) * boot.epoch());
            case 3 ->
                new HealthSignal.FaultObserved(
                        metadata,
                        boot,
                        NodeScenario.reported("", FaultCode.of(FaultKind.DRIVER), RecoveryAction.NONE),
                        "gone",
                        List.of());
            default ->
                new HealthSignal.FaultObserved(metadata, boot, reported(gpu, code), "NVRM: something", List.of());
        };
    }

    private HealthSignal.ReportedFault reported(String gpu, FaultCode code) {
        var rules = DaemonWithdrawal.Rule.values();
        var withdrawal = new DaemonWithdrawal(random.nextInt(3) == 0, rules[random.nextInt(rules.length)]);
        RecoveryAction action = code.kind() == FaultKind.RECOVERY_ACTION
                ? RecoveryAction.values()[code.number()]
                : ACTIONS[random.nextInt(ACTIONS.length)];
        return new HealthSignal.ReportedFault(gpu, "H100", code, new FaultReport(action, withdrawal, ""));
    }

    private FaultCode randomCode() {
        return random.nextInt(4) == 0
                ? FaultCode.recovery(ACTIONS[random.nextInt(ACTIONS.length)])
                : FaultCode.xid(XIDS[random.nextInt(XIDS.length)]);
    }

    private HealthSignal.DaemonKnowledge knowledge() {
        return switch (random.nextInt(4)) {
            case 0 -> new HealthSignal.DaemonKnowledge(NodeScenario.START.plusSeconds(events), true);
            case 1 -> new HealthSignal.DaemonKnowledge(NodeScenario.START, random.nextBoolean());
            case 2 -> new HealthSignal.DaemonKnowledge(Instant.EPOCH, true);
            default -> NodeScenario.KNOWN;
        };
    }

    private List<OpenFault> open() {
        List<OpenFault> open = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            open.add(new OpenFault(reported(randomGpu(), randomCode()), 1 + random.nextInt(3)));
        }
        return open;
    }

    /** A daemon lists every GPU of which it reports in the same boot, lost or not. */
    private HealthSignal announced(DaemonIncarnation boot) {
        EventMetadata metadata = nextMetadata();
        return new HealthSignal.DevicesAnnounced(
                metadata,
                boot,
                GPUS.stream()
                        .filter(uuid -> reported.contains(uuid) || random.nextInt(5) > 0)
                        .map(uuid -> new AnnouncedDevice(uuid, NodeScenario.H100, random.nextInt(6) == 0))
                        .toList(),
                knowledge());
    }

    private HealthSignal operatorSignal() {
        EventMetadata metadata = nextMetadata();
        return switch (random.nextInt(6)) {
            case 0 ->
                new HealthSignal.NodeObjectObserved(
                        metadata,
                        "uid-" + random.nextInt(2),
                        new NodeReference.Placement(Map.of("zone", "z-" + random.nextInt(2)), random.nextBoolean()));
            case 2 -> new HealthSignal.NodeObjectDeleted(metadata, "uid-" + random.nextInt(2));
            case 1 -> new HealthSignal.CommandIssued(metadata, randomCommand(), "", "ada", "because");
            default -> new HealthSignal.CommandIssued(metadata, randomCommand(), randomGpu(), "ada", "because");
        };
    }

    private Command randomCommand() {
        return COMMANDS.get(random.nextInt(COMMANDS.size()));
    }

    private String randomGpu() {
        String gpu = GPUS.get(random.nextInt(GPUS.size()));
        reported.add(gpu);
        return gpu;
    }

    private EventMetadata nextMetadata() {
        at = at.plusMillis(1 + random.nextInt(1000));
        events++;
        return new EventMetadata("node-1/1/t/" + events, at, random.nextInt(8) == 0 ? OLD : Duration.ZERO);
    }
}
