package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Which GPUs a simulated node has, as {@code simulated:8xH100}, {@code simulated:4xA100,4xT4} or
 * {@code simulated:2xA100:mig=7x1g.5gb} asks for.
 */
record SimulatedDevices(String node, List<Board> boards) {
    /** One GPU and how it is partitioned. */
    record Board(SimulatedModel model, MigLayout mig) {}

    private static final String PREFIX = "simulated:";
    private static final Pattern GROUP = Pattern.compile("(\\d{1,3})x(\\w+)(?::mig=(.*))?");
    private static final int MOST = 256;

    /** NVLinks between the eight V100 of a DGX-1, a hybrid cube mesh. */
    private static final int[][] CUBE_MESH = {
        {0, 1, 1, 2, 2, 0, 0, 0},
        {1, 0, 2, 1, 0, 2, 0, 0},
        {1, 2, 0, 2, 0, 0, 1, 0},
        {2, 1, 2, 0, 0, 0, 0, 1},
        {2, 0, 0, 0, 0, 1, 1, 2},
        {0, 2, 0, 0, 1, 0, 2, 1},
        {0, 0, 1, 0, 1, 2, 0, 2},
        {0, 0, 0, 1, 2, 1, 2, 0},
    };

    SimulatedDevices {
        boards = List.copyOf(boards);
    }

    /** Reads the value of GPUFLEET_DEVICES; refuses a bad one in a line. */
    static SimulatedDevices parse(String node, String value) {
        List<Board> boards = new ArrayList<>();
        if (!value.startsWith(PREFIX)) {
            throw refused(value, "is not simulated:<count>x<model>");
        }
        for (String group : value.substring(PREFIX.length()).split(",", -1)) {
            Matcher matcher = GROUP.matcher(group.strip());
            if (!matcher.matches()) {
                throw refused(value, "has \"" + group + "\" where <count>x<model>[:mig=<layout>] is wanted");
            }
            SimulatedModel model = SimulatedModel.named(matcher.group(2))
                    .orElseThrow(() -> refused(value, "names the unknown model " + matcher.group(2)));
            Board board = new Board(model, layout(value, model, Optional.ofNullable(matcher.group(3))));
            int count = Integer.parseInt(matcher.group(1));
            IntStream.range(0, count).forEach(_ -> boards.add(board));
        }
        if (boards.size() > MOST) {
            throw refused(value, "asks for " + boards.size() + " GPUs, a node has at most " + MOST);
        }
        return new SimulatedDevices(node, boards);
    }

    private static MigLayout layout(String value, SimulatedModel model, Optional<String> text) {
        try {
            return text.map(layout -> MigLayout.parse(model, layout)).orElse(MigLayout.OFF);
        } catch (IllegalArgumentException wrong) {
            throw refused(value, String.valueOf(wrong.getMessage()));
        }
    }

    private static ConfigurationException refused(String value, String why) {
        return new ConfigurationException("GPUFLEET_DEVICES=" + value + " " + why
                + "; write for example simulated:8xH100, simulated:4xA100,4xT4 or simulated:2xA100:mig=7x1g.5gb, models: "
                + SimulatedModel.known());
    }

    /** The GPUs, the same ones at every start of the same node. */
    List<Gpu> gpus() {
        return IntStream.range(0, boards.size()).mapToObj(this::gpu).toList();
    }

    private Gpu gpu(int index) {
        SimulatedModel model = boards.get(index).model();
        MigLayout mig = boards.get(index).mig();
        UUID uuid = UUID.nameUUIDFromBytes((node + "/" + index).getBytes(StandardCharsets.UTF_8));
        return new Gpu(
                "GPU-" + uuid,
                new Known<>(String.format(
                        Locale.ROOT, "%013d", Math.floorMod(uuid.getMostSignificantBits(), 10_000_000_000_000L))),
                index,
                index,
                busId(index),
                model.product(),
                model.name(),
                model.family(),
                model.computeCapability(),
                new Known<>(model.memoryBytes()),
                new Known<>(model.vbios()),
                new Known<>(index < (boards.size() + 1) / 2 ? 0 : 1),
                model.migCapable() ? new Known<>(mig.enabled()) : new Unavailable<>("NOT_SUPPORTED"),
                links(index),
                fabricClique(),
                new Known<>("compute"),
                mig.instances(model, "GPU-" + uuid, index),
                new Reading.Unavailable<>("not read"),
                new Reading.Unavailable<>("no virtual GPU"));
    }

    private static Reading<String> fabricClique() {
        return new Unavailable<>("not attached to a fabric of several nodes");
    }

    private static String busId(int index) {
        return String.format(Locale.ROOT, "%08X:%02X:00.0", index / 16, 7 + index % 16 * 8);
    }

    private List<Gpu.Link> links(int index) {
        SimulatedModel model = boards.get(index).model();
        if (model != SimulatedModel.V100) {
            return model.switchLinks() == 0 ? List.of() : List.of(new Gpu.Link("", model.switchLinks(), true));
        }
        int first = index / 8 * 8;
        return IntStream.range(first, Math.min(first + 8, boards.size()))
                .filter(peer -> boards.get(peer).model() == SimulatedModel.V100 && CUBE_MESH[index % 8][peer % 8] > 0)
                .mapToObj(peer -> new Gpu.Link(busId(peer), CUBE_MESH[index % 8][peer % 8], false))
                .toList();
    }
}
