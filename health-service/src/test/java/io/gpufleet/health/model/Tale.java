package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.Heard;
import io.gpufleet.health.model.HealthSignal.ListedDevice;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.HealthSignal.Speaker;
import io.gpufleet.health.model.HealthSignal.Word;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Arbitrary things that happen to a node of three GPUs over two boots, topic by topic. */
public final class Tale {
    private static final List<String> GPUS = List.of("gpu-0", "gpu-1", "gpu-2");
    private static final int[] XIDS = {13, 63, 92, 48, 95, 74, 79, 54};
    private static final Duration OLD = Duration.ofMinutes(11);

    private final Random random;
    private Instant at = Story.START;
    private int events;

    private Tale(long seed) {
        this.random = new Random(seed);
    }

    /** Lists of signals, one for each topic; the order within each is the order on the log. */
    public static List<List<HealthSignal>> of(long seed) {
        var tale = new Tale(seed);
        List<HealthSignal> health = new ArrayList<>();
        List<HealthSignal> inventory = new ArrayList<>();
        List<HealthSignal> signals = new ArrayList<>();
        for (Speaker boot : List.of(new Speaker("boot-1", 1_000, false), new Speaker("boot-2", 2_000, false))) {
            for (int i = tale.random.nextInt(8); i >= 0; i--) {
                health.add(tale.ofHealth(boot));
            }
            for (int i = tale.random.nextInt(3); i >= 0; i--) {
                inventory.add(tale.announced(boot));
            }
        }
        for (int i = tale.random.nextInt(6); i > 0; i--) {
            signals.add(tale.ofSignals());
        }
        return List.of(health, inventory, signals);
    }

    /** One order in which the topics can be read. */
    public static List<HealthSignal> interleaved(List<List<HealthSignal>> topics, long seed) {
        var order = new Random(seed);
        List<List<HealthSignal>> left = new ArrayList<>();
        topics.forEach(topic -> left.add(new ArrayList<>(topic)));
        List<HealthSignal> read = new ArrayList<>();
        left.removeIf(List::isEmpty);
        while (!left.isEmpty()) {
            List<HealthSignal> next = left.get(order.nextInt(left.size()));
            read.add(next.removeFirst());
            left.removeIf(List::isEmpty);
        }
        return read;
    }

    private HealthSignal ofHealth(Speaker boot) {
        Heard heard = heard();
        String gpu = gpu();
        FaultCode code = FaultCode.xid(XIDS[random.nextInt(XIDS.length)]);
        return switch (random.nextInt(6)) {
            case 0 -> new HealthSignal.FaultCleared(heard, boot, gpu, code, "quiet");
            case 1 -> new HealthSignal.OfferChanged(heard, boot, gpu, random.nextBoolean());
            case 2 -> new HealthSignal.FaultsOpen(heard, boot, open(), Map.of(gpu, random.nextBoolean()));
            case 3 ->
                new HealthSignal.FaultObserved(
                        heard, boot, "", "", FaultCode.of(FaultKind.DRIVER), RecoveryAction.NONE, "gone", List.of());
            default ->
                new HealthSignal.FaultObserved(
                        heard, boot, gpu, "H100", code, RecoveryAction.NONE, "NVRM: something", List.of());
        };
    }

    private List<OpenFault> open() {
        List<OpenFault> open = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            open.add(Story.openXid(gpu(), XIDS[random.nextInt(XIDS.length)]));
        }
        return open;
    }

    private HealthSignal announced(Speaker boot) {
        Heard heard = heard();
        return new HealthSignal.DevicesAnnounced(
                heard,
                boot,
                GPUS.stream()
                        .filter(_ -> random.nextInt(5) > 0)
                        .map(uuid -> new ListedDevice(uuid, "H100", random.nextInt(6) == 0))
                        .toList());
    }

    private HealthSignal ofSignals() {
        Heard heard = heard();
        return switch (random.nextInt(5)) {
            case 0 -> new HealthSignal.NodeObjectSeen(heard, "uid-" + random.nextInt(2));
            case 1 -> new HealthSignal.OperatorSpoke(heard, word(), "", "ada", "because");
            default -> new HealthSignal.OperatorSpoke(heard, word(), gpu(), "ada", "because");
        };
    }

    private Word word() {
        return Word.values()[random.nextInt(Word.values().length)];
    }

    private String gpu() {
        return GPUS.get(random.nextInt(GPUS.size()));
    }

    private Heard heard() {
        at = at.plusMillis(1 + random.nextInt(1000));
        events++;
        return new Heard("node-1/1/t/" + events, at, random.nextInt(8) == 0 ? OLD : Duration.ZERO);
    }
}
