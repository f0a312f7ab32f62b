package io.gpufleet.inventory.model.label;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.gpu;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.onFabric;
import static io.gpufleet.inventory.model.TestNodes.shared;
import static io.gpufleet.inventory.model.TestNodes.withMig;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Announcement.MigStrategy;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Gpu.Sharing.SharingStrategy;
import io.gpufleet.inventory.model.TestNodes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The labels of a node equal what NVIDIA's GPU feature discovery v0.20.0 wrote for the same GPUs, with
 * {@code gpu.present}, which NVIDIA's GPU operator adds.
 */
class RecordedGfdLabelsTest {
    private static final long MIB = 1L << 20;
    private static final String GPU = "nvidia.com/gpu";

    static List<Map.Entry<String, Announcement>> nodes() {
        return List.of(
                Map.entry("a100", gpus(8, TestNodes::a100)),
                Map.entry("h100", gpus(8, TestNodes::h100)),
                Map.entry("h200", gpus(8, index -> model(index, "NVIDIA H200", "hopper", "9.0", 143_771))),
                Map.entry("b200", gpus(8, index -> model(index, "NVIDIA B200", "blackwell", "10.0", 183_359))),
                Map.entry("gb200", gpus(4, RecordedGfdLabelsTest::gb200)),
                Map.entry(
                        "l40s",
                        gpus(4, index -> withoutMig(model(index, "NVIDIA L40S", "ada-lovelace", "8.9", 46_068)))),
                Map.entry("t4", gpus(1, index -> withoutMig(model(index, "Tesla T4", "turing", "7.5", 15_360)))),
                Map.entry("v100", gpus(4, TestNodes::v100)),
                Map.entry("rtx-pro-6000", gpus(2, RecordedGfdLabelsTest::rtxPro6000)),
                Map.entry(
                        "mig-single", announcement(MigStrategy.SINGLE, migGpu(0, "1g.5gb", 7), migGpu(1, "1g.5gb", 7))),
                Map.entry("mig-single-two-profiles", announcement(MigStrategy.SINGLE, twoProfiles())),
                Map.entry("mig-mixed", announcement(MigStrategy.MIXED, threeProfiles(), a100(1))),
                Map.entry("mig-without-strategy", announcement(migGpu(0, "1g.5gb", 7))),
                Map.entry(
                        "mig-single-time-slicing",
                        announcement(MigStrategy.SINGLE, sliced(migGpu(0, "1g.5gb", 7), GPU))),
                Map.entry("time-slicing", gpus(2, index -> sliced(a100(index), GPU))),
                Map.entry("time-slicing-renamed", gpus(2, index -> sliced(a100(index), GPU + ".shared"))),
                Map.entry("mps", gpus(2, index -> shared(a100(index), SharingStrategy.MPS, 4, GPU))));
    }

    @ParameterizedTest
    @MethodSource("nodes")
    void labelsEqualTheRecordedOnes(Map.Entry<String, Announcement> node) throws IOException {
        Map<String, String> labels = NodeLabels.labels(node("n1", node.getValue()), EnumSet.of(LabelGroup.GFD));

        Map<String, String> expected = recorded(node.getKey());
        expected.put("nvidia.com/gpu.present", "true");
        assertThat(labels).containsExactlyInAnyOrderEntriesOf(expected);
    }

    private static Map<String, String> recorded(String name) throws IOException {
        try (InputStream file =
                RecordedGfdLabelsTest.class.getResourceAsStream("gfd-v0.20.0/" + name + ".properties")) {
            assertThat(file).as(name).isNotNull();
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .collect(Collectors.toMap(
                            line -> line.substring(0, line.indexOf('=')),
                            line -> line.substring(line.indexOf('=') + 1),
                            (one, other) -> one,
                            TreeMap::new));
        }
    }

    private static Announcement gpus(int count, IntFunction<Gpu> gpu) {
        return announcement(IntStream.range(0, count).mapToObj(gpu).toArray(Gpu[]::new));
    }

    private static Gpu model(int index, String name, String family, String capability, long memoryMib) {
        return gpu(index, new Gpu.Product(name, "", family, capability, "compute", memoryMib * MIB));
    }

    private static Gpu gb200(int index) {
        return onFabric(
                model(index, "NVIDIA GB200", "blackwell", "10.0", 189_471), "01020304-0506-0708-090a-0b0c0d0e0f10.3");
    }

    private static Gpu rtxPro6000(int index) {
        String name = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition";
        return gpu(index, new Gpu.Product(name, "", "blackwell", "12.0", "graphics", 97_887 * MIB));
    }

    private static Gpu withoutMig(Gpu gpu) {
        return withMig(gpu, new Gpu.Mig(Gpu.MigMode.NONE, List.of()));
    }

    private static Gpu sliced(Gpu gpu, String resource) {
        return shared(gpu, SharingStrategy.TIME_SLICING, 4, resource);
    }

    private static Gpu twoProfiles() {
        Gpu.MigInstance one = migGpu(0, "1g.5gb", 1).migInstances().getFirst();
        return withMig(a100(0), new Gpu.Mig(Gpu.MigMode.ENABLED, List.of(one, one, twoSlices())));
    }

    private static Gpu threeProfiles() {
        Gpu.MigInstance one = migGpu(0, "1g.5gb", 1).migInstances().getFirst();
        Gpu.MigInstance media = instance("1g.5gb+me", 4_864, 14, 1, new Gpu.Engines(1, 1, 0, 1, 1));
        return withMig(a100(0), new Gpu.Mig(Gpu.MigMode.ENABLED, List.of(media, one, one, twoSlices())));
    }

    private static Gpu.MigInstance twoSlices() {
        return instance("2g.10gb", 9_856, 28, 2, new Gpu.Engines(2, 1, 0, 0, 0));
    }

    private static Gpu.MigInstance instance(
            String profile, long memoryMib, int multiprocessors, int slices, Gpu.Engines engines) {
        return new Gpu.MigInstance(
                "MIG-" + profile,
                profile,
                9,
                0,
                "nvidia.com/mig-" + profile.replace('+', '.'),
                new Gpu.MigAttributes(memoryMib * MIB, multiprocessors, slices, slices, engines));
    }
}
