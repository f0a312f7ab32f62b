package io.gpufleet.nodedaemon.model.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ResourcePlanTest {
    private static KnownGpu plain(int index) {
        return new KnownGpu(TestGpus.gpu(index), new KnownGpu.Presence.Answering());
    }

    /** A GPU with MIG on and instances of these profiles; one that ends in c is part of a GPU instance. */
    private static KnownGpu withMigInstances(int index, String... profiles) {
        List<MigInstance> instances = java.util.stream.IntStream.range(0, profiles.length)
                .mapToObj(i -> new MigInstance(
                        "MIG-" + index + "-" + i,
                        profiles[i],
                        i,
                        i,
                        0,
                        new MigInstance.Attributes(
                                5L << 30,
                                14,
                                new MigInstance.Slices(profiles[i].startsWith("1c") ? 2 : 1, 1),
                                new MigInstance.Engines(1, 0, 0, 0, 0)),
                        List.of(),
                        new Reading.Unavailable<>("not read")))
                .toList();
        return new KnownGpu(
                TestGpus.gpu(index).withMig(new Reading.Known<>(true), instances), new KnownGpu.Presence.Answering());
    }

    private static PluginSettings settings(MigStrategy mig, SharingSettings sharing) {
        return new PluginSettings(
                mig, sharing, ReplicaAllocationPolicy.DISTRIBUTED, AllocateSettings.DEFAULT, XidOverrides.NONE);
    }

    private static SharingSettings slicing(SharedResource... resources) {
        return new SharingSettings(SharingMode.TIME_SLICING, false, false, List.of(resources));
    }

    private static SharedResource gpus(DeviceSelector devices, int replicas) {
        return new SharedResource(ResourcePlan.GPU, "", devices, replicas);
    }

    private static ResourcePlan plan(MigStrategy mig, KnownGpu... gpus) {
        return ResourcePlan.of(List.of(gpus), settings(mig, SharingSettings.NONE));
    }

    private static Map<String, List<String>> ids(ResourcePlan plan) {
        return plan.devices().stream()
                .collect(Collectors.groupingBy(
                        PlannedDevice::resource, Collectors.mapping(PlannedDevice::id, Collectors.toList())));
    }

    @ParameterizedTest
    @EnumSource(MigStrategy.class)
    void withoutMigEveryStrategyOffersWholeGpus(MigStrategy mig) {
        var plan = plan(mig, plain(0), plain(1));

        assertThat(ids(plan)).isEqualTo(Map.of("nvidia.com/gpu", List.of(TestGpus.uuid(0), TestGpus.uuid(1))));
        assertThat(plan.warnings()).isEmpty();
    }

    @Test
    void noneOffersMigGpusWholeWithAWarning() {
        var plan = plan(MigStrategy.NONE, plain(0), withMigInstances(1, "1g.5gb"));

        assertThat(ids(plan)).isEqualTo(Map.of("nvidia.com/gpu", List.of(TestGpus.uuid(0), TestGpus.uuid(1))));
        assertThat(plan.warnings()).singleElement().asString().contains("GPU 1 has MIG on", "choose single or mixed");
    }

    @Test
    void singleOffersInstancesAsGpus() {
        var plan = plan(MigStrategy.SINGLE, withMigInstances(0, "1g.5gb", "1g.5gb"), withMigInstances(1, "1g.5gb"));

        assertThat(ids(plan)).isEqualTo(Map.of("nvidia.com/gpu", List.of("MIG-0-0", "MIG-0-1", "MIG-1-0")));
        assertThat(plan.warnings()).isEmpty();
    }

    @Test
    void singleOffersNothingOfANodeThatIsNotUniform() {
        assertThat(plan(MigStrategy.SINGLE, plain(0), withMigInstances(1, "1g.5gb")))
                .satisfies(plan -> {
                    assertThat(plan.devices()).isEmpty();
                    assertThat(plan.warnings()).singleElement().asString().contains("MIG is on for 1 of 2 GPUs");
                });
        assertThat(plan(MigStrategy.SINGLE, withMigInstances(0, "1g.5gb"), withMigInstances(1, "2g.10gb")))
                .satisfies(plan -> {
                    assertThat(plan.devices()).isEmpty();
                    assertThat(plan.warnings()).singleElement().asString().contains("[1g.5gb, 2g.10gb]");
                });
        assertThat(plan(MigStrategy.SINGLE, withMigInstances(0, "1g.5gb"), withMigInstances(1)))
                .satisfies(plan -> {
                    assertThat(plan.devices()).isEmpty();
                    assertThat(plan.warnings()).singleElement().asString().contains("GPU 1 has MIG on and no instance");
                });
    }

    @Test
    void mixedNamesAResourceForEachProfile() {
        var plan = plan(MigStrategy.MIXED, plain(0), withMigInstances(1, "1g.5gb", "1g.10gb+me", "1g.5gb"));

        assertThat(ids(plan))
                .isEqualTo(Map.of(
                        "nvidia.com/gpu", List.of(TestGpus.uuid(0)),
                        "nvidia.com/mig-1g.5gb", List.of("MIG-1-0", "MIG-1-2"),
                        "nvidia.com/mig-1g.10gb.me", List.of("MIG-1-1")));
        assertThat(plan.warnings()).isEmpty();
    }

    @Test
    void partialInstancesAndEmptyGpusAreNotOfferedAndWarnedAbout() {
        var plan = plan(MigStrategy.MIXED, withMigInstances(0, "1g.5gb", "1c.2g.10gb"), withMigInstances(1));

        assertThat(ids(plan)).isEqualTo(Map.of("nvidia.com/mig-1g.5gb", List.of("MIG-0-0")));
        assertThat(plan.warnings())
                .satisfiesExactlyInAnyOrder(
                        complaint -> assertThat(complaint).contains("MIG-0-1", "1c.2g.10gb"),
                        complaint -> assertThat(complaint).contains("GPU 1 has MIG on and no instance"));
    }

    @Test
    void replicasAreNumberedAndKeepTheNameByDefault() {
        var all = gpus(new DeviceSelector.All(), 2);
        assertThat(ids(ResourcePlan.of(List.of(plain(0)), settings(MigStrategy.NONE, slicing(all)))))
                .isEqualTo(Map.of("nvidia.com/gpu", List.of(TestGpus.uuid(0) + "::0", TestGpus.uuid(0) + "::1")));

        var byDefault = new SharingSettings(SharingMode.TIME_SLICING, true, false, List.of(all));
        assertThat(ids(ResourcePlan.of(List.of(plain(0)), settings(MigStrategy.NONE, byDefault))))
                .containsOnlyKeys("nvidia.com/gpu.shared");

        var own = new SharingSettings(
                SharingMode.TIME_SLICING,
                true,
                false,
                List.of(new SharedResource(ResourcePlan.GPU, "nvidia.com/small", new DeviceSelector.All(), 2)));
        assertThat(ids(ResourcePlan.of(List.of(plain(0)), settings(MigStrategy.NONE, own))))
                .containsOnlyKeys("nvidia.com/small");
    }

    @Test
    void devicesHaveReplicaCountsOfTheirOwn() {
        // Given four shares a GPU, two on GPU 1, and ten of the one with this UUID
        var sharing = slicing(
                gpus(new DeviceSelector.First(3), 4),
                gpus(new DeviceSelector.Listed(Set.of("1")), 2),
                gpus(new DeviceSelector.Listed(Set.of(TestGpus.uuid(2))), 10));

        var plan =
                ResourcePlan.of(List.of(plain(0), plain(1), plain(2), plain(3)), settings(MigStrategy.NONE, sharing));

        assertThat(plan.devices().stream()
                        .collect(Collectors.groupingBy(
                                device -> device.known().gpu().index(), Collectors.summingInt(_ -> 1))))
                .isEqualTo(Map.of(0, 4, 1, 2, 2, 10, 3, 1));
        assertThat(plan.devices())
                .filteredOn(device -> device.known().gpu().index() == 3)
                .extracting(PlannedDevice::id)
                .containsExactly(TestGpus.uuid(3));
        assertThat(plan.warnings()).isEmpty();
    }

    @Test
    void sharesOfInstancesAreNamedByTheirIndices() {
        var sharing =
                slicing(new SharedResource("nvidia.com/mig-1g.5gb", "", new DeviceSelector.Listed(Set.of("1:0")), 3));

        var plan = ResourcePlan.of(
                List.of(withMigInstances(0, "1g.5gb"), withMigInstances(1, "1g.5gb")),
                settings(MigStrategy.MIXED, sharing));

        assertThat(ids(plan))
                .isEqualTo(
                        Map.of("nvidia.com/mig-1g.5gb", List.of("MIG-0-0", "MIG-1-0::0", "MIG-1-0::1", "MIG-1-0::2")));
    }

    @Test
    void unshareableResourceIsWarnedAbout() {
        var sharing = slicing(
                gpus(new DeviceSelector.First(9), 2),
                gpus(new DeviceSelector.Listed(Set.of("0", "7")), 2),
                new SharedResource("nvidia.com/mig-1g.5gb", "", new DeviceSelector.Listed(Set.of("0:0")), 2));

        assertThat(ResourcePlan.of(List.of(plain(0)), settings(MigStrategy.NONE, sharing))
                        .warnings())
                .satisfiesExactly(
                        complaint ->
                                assertThat(complaint).contains("first 9 devices of nvidia.com/gpu: the node has 1"),
                        complaint -> assertThat(complaint).contains("no device '7'"));
    }

    @Test
    void mpsSharesNoMigInstances() {
        var mps = new SharingSettings(SharingMode.MPS, false, true, List.of(gpus(new DeviceSelector.All(), 4)));

        var plan = ResourcePlan.of(List.of(withMigInstances(0, "1g.5gb")), settings(MigStrategy.SINGLE, mps));

        assertThat(ids(plan)).isEqualTo(Map.of("nvidia.com/gpu", List.of("MIG-0-0")));
        assertThat(plan.warnings()).singleElement().asString().contains("by MPS", "use timeSlicing");
        assertThatThrownBy(() -> settings(MigStrategy.MIXED, mps)).hasMessageContaining("choose one of the two");
    }

    @Test
    void lostGpuKeepsItsDevices() {
        var lost = new KnownGpu(
                withMigInstances(1, "1g.5gb", "1g.5gb").gpu(), new KnownGpu.Presence.Missing(0, "lost", true));
        var sharing = slicing(new SharedResource("nvidia.com/mig-1g.5gb", "", new DeviceSelector.All(), 2));

        var plan = ResourcePlan.of(List.of(withMigInstances(0, "1g.5gb"), lost), settings(MigStrategy.MIXED, sharing));

        assertThat(plan.devices()).hasSize(6);
    }

    @Provide
    Arbitrary<List<KnownGpu>> nodes() {
        var profiles = Arbitraries.of("1g.5gb", "2g.10gb", "1c.2g.10gb")
                .array(String[].class)
                .ofMaxSize(3);
        return Combinators.combine(Arbitraries.of(true, false), profiles)
                .as((mig, cut) -> Map.entry(mig, cut))
                .list()
                .ofMaxSize(8)
                .map(cuts -> java.util.stream.IntStream.range(0, cuts.size())
                        .mapToObj(i -> cuts.get(i).getKey()
                                ? withMigInstances(i, cuts.get(i).getValue())
                                : plain(i))
                        .toList());
    }

    @Provide
    Arbitrary<SharingSettings> sharings() {
        Arbitrary<DeviceSelector> picks = Arbitraries.of(
                new DeviceSelector.All(),
                new DeviceSelector.First(2),
                new DeviceSelector.Listed(Set.of("0", "1:0", TestGpus.uuid(3), "MIG-2-1")));
        var entries = Combinators.combine(
                        Arbitraries.of(ResourcePlan.GPU, "nvidia.com/mig-1g.5gb"),
                        Arbitraries.of("", "nvidia.com/other"),
                        picks,
                        Arbitraries.integers().between(2, 5))
                .as(SharedResource::new);
        return Combinators.combine(Arbitraries.of(true, false), entries.list().ofMaxSize(3))
                .as((rename, list) -> new SharingSettings(SharingMode.TIME_SLICING, rename, false, list));
    }

    @Property(tries = 300)
    void idsAreUniqueAndEveryGpuIsOfferedOrWarnedAbout(
            @ForAll("nodes") List<KnownGpu> gpus,
            @ForAll("sharings") SharingSettings sharing,
            @ForAll MigStrategy mig) {
        var plan = ResourcePlan.of(gpus, settings(mig, sharing));

        assertThat(plan.devices()).extracting(PlannedDevice::id).doesNotHaveDuplicates();
        if (mig != MigStrategy.SINGLE || plan.warnings().isEmpty()) {
            assertThat(gpus)
                    .allSatisfy(known -> assertThat(warnedAbout(plan, known)).isTrue());
        }
        assertThat(plan.devices())
                .allSatisfy(device -> assertThat(device.id().contains("::")).isEqualTo(device.replicas() > 1));
    }

    private static boolean warnedAbout(ResourcePlan plan, KnownGpu known) {
        boolean offered =
                plan.devices().stream().anyMatch(device -> device.known().equals(known));
        Stream<String> names = Stream.concat(
                Stream.of("GPU " + known.gpu().index() + " has MIG on"),
                known.gpu().instances().stream().map(MigInstance::uuid));
        return offered || names.anyMatch(name -> plan.warnings().stream().anyMatch(said -> said.contains(name)));
    }
}
