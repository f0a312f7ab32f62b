package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
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
 * GPUs of a simulated node, by the value of GPUFLEET_DEVICES:
 *
 * <pre>
 * value = "simulated:" group { "," group }       for example simulated:4xA100,4xT4
 * group = count "x" model [ ":mig=" layout ]     for example 2xA100:mig=7x1g.5gb, see {@link SimulatedMigLayout}
 * </pre>
 */
record SimulatedDevices(String node, List<SimulatedBoard> boards) {
    /** A GPU and its MIG layout. */
    record SimulatedBoard(SimulatedModel model, SimulatedMigLayout mig) {}

    private static final String PREFIX = "simulated:";
    private static final Pattern GROUP = Pattern.compile("(\\d{1,3})x(\\w+)(?::mig=(.*))?");
    private static final int MAX_GPUS = 256;

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

    /** Parses the value of GPUFLEET_DEVICES; rejects a bad one with one line. */
    static SimulatedDevices parse(String node, String value) {
        List<SimulatedBoard> boards = new ArrayList<>();
        if (!value.startsWith(PREFIX)) {
            throw rejected(value, "is not simulated:<count>x<model>");
        }
        for (String group : value.substring(PREFIX.length()).split(",", -1)) {
            Matcher matcher = GROUP.matcher(group.strip());
            if (!matcher.matches()) {
                throw rejected(value, "has \"" + group + "\" where <count>x<model>[:mig=<layout>] is expected");
            }
            SimulatedModel model = SimulatedModel.named(matcher.group(2))
                    .orElseThrow(() -> rejected(value, "names the unknown model " + matcher.group(2)));
            SimulatedBoard board =
                    new SimulatedBoard(model, layout(value, model, Optional.ofNullable(matcher.group(3))));
            int count = Integer.parseInt(matcher.group(1));
            IntStream.range(0, count).forEach(_ -> boards.add(board));
        }
        if (boards.size() > MAX_GPUS) {
            throw rejected(value, "requests " + boards.size() + " GPUs, a node has at most " + MAX_GPUS);
        }
        return new SimulatedDevices(node, boards);
    }

    private static SimulatedMigLayout layout(String value, SimulatedModel model, Optional<String> text) {
        try {
            return text.map(layout -> SimulatedMigLayout.parse(model, layout)).orElse(SimulatedMigLayout.OFF);
        } catch (IllegalArgumentException wrong) {
            throw rejected(value, String.valueOf(wrong.getMessage()));
        }
    }

    private static ConfigurationException rejected(String value, String why) {
        return new ConfigurationException("GPUFLEET_DEVICES=" + value + " " + why
                + "; write for example simulated:8xH100, simulated:4xA100,4xT4 or simulated:2xA100:mig=7x1g.5gb, models: "
                + SimulatedModel.known());
    }

    /** The GPUs, the same in every start of the same node. */
    List<Gpu> gpus() {
        return IntStream.range(0, boards.size()).mapToObj(this::gpu).toList();
    }

    private Gpu gpu(int index) {
        SimulatedModel model = boards.get(index).model();
        SimulatedMigLayout mig = boards.get(index).mig();
        // Of the model as well: another machine under the name of a former one has other GPUs.
        String name = node + "/" + index + "/" + model.name();
        UUID uuid = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return new Gpu(
                new Gpu.Identifiers(
                        "GPU-" + uuid,
                        new Known<>(String.format(
                                Locale.ROOT,
                                "%013d",
                                Math.floorMod(uuid.getMostSignificantBits(), 10_000_000_000_000L))),
                        index,
                        index,
                        busId(index),
                        new Known<>(model.vbios())),
                new Gpu.Product(
                        model.product(),
                        model.name(),
                        model.family(),
                        model.computeCapability(),
                        new Known<>("compute")),
                new Known<>(model.memoryBytes()),
                new Gpu.Topology(
                        new Known<>(index < (boards.size() + 1) / 2 ? 0 : 1),
                        links(index),
                        fabricClique(),
                        new Reading.Unavailable<>("not read")),
                new Gpu.Mig(
                        model.migCapable() ? new Known<>(mig.enabled()) : new Unavailable<>("NOT_SUPPORTED"),
                        mig.instances(model, "GPU-" + uuid, index)),
                new Reading.Unavailable<>("no virtual GPU"));
    }

    private static Reading<String> fabricClique() {
        return new Unavailable<>("not attached to a fabric of several nodes");
    }

    private static String busId(int index) {
        return String.format(Locale.ROOT, "%08X:%02X:00.0", index / 16, 7 + index % 16 * 8);
    }

    private List<Gpu.NvLinkPeer> links(int index) {
        SimulatedModel model = boards.get(index).model();
        if (model != SimulatedModel.V100) {
            return model.switchLinks() == 0 ? List.of() : List.of(new Gpu.NvLinkPeer("", model.switchLinks(), true));
        }
        int first = index / 8 * 8;
        return IntStream.range(first, Math.min(first + 8, boards.size()))
                .filter(peer -> boards.get(peer).model() == SimulatedModel.V100 && CUBE_MESH[index % 8][peer % 8] > 0)
                .mapToObj(peer -> new Gpu.NvLinkPeer(busId(peer), CUBE_MESH[index % 8][peer % 8], false))
                .toList();
    }
}
