package io.gpufleet.nodedaemon.model.allocation;

import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.HOST;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.LIST;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.VISIBLE;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.allocate;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.settingsWith;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.table;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.withStrategies;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Accepted;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.ContainerAllocation;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.DeviceNode;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.ImexMode;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AllocationTableFactoryTest {
    @Test
    void envvarNamesTheGpusInTheOrderOfTheList() {
        ContainerAllocation allocation = allocate(withStrategies(DeviceListStrategy.ENVVAR), uuid(1), uuid(0));

        assertThat(allocation.environment()).containsOnly(Map.entry(VISIBLE, uuid(0) + "," + uuid(1)));
        assertThat(allocation.mounts()).isEmpty();
        assertThat(allocation.deviceNodes()).isEmpty();
    }

    @Test
    void sharesOfOneDeviceAreOneDevice() {
        DeviceList shares = shared(3);

        ContainerAllocation allocation = allocate(
                withStrategies(DeviceListStrategy.ENVVAR, DeviceListStrategy.CDI_CRI),
                HOST,
                shares,
                uuid(0) + "::2",
                uuid(0) + "::0");

        assertThat(allocation.environment()).containsEntry(VISIBLE, uuid(0));
        assertThat(allocation.cdiDevices()).containsExactly("gpufleet.io/gpu=" + uuid(0));
    }

    private static DeviceList shared(int replicas) {
        return new DeviceList(
                1,
                IntStream.range(0, replicas)
                        .mapToObj(n -> new OfferedDevice(
                                uuid(0) + "::" + n,
                                TestGpus.gpu(0),
                                new GpuPartition.FullGpu(),
                                ResourcePlan.GPU,
                                replicas,
                                new OfferedDevice.Health(true, true, false, "")))
                        .toList());
    }

    @Test
    void sharedDevicesGetTheirMpsControlDaemon() {
        var settings = new PluginSettings(
                MigStrategy.NONE,
                new SharingSettings(
                        SharingSettings.SharingMode.MPS,
                        false,
                        true,
                        List.of(new SharedResource(ResourcePlan.GPU, "", new DeviceSelector.All(), 2)),
                        "/run/mps"),
                ReplicaAllocationPolicy.DISTRIBUTED,
                AllocateSettings.DEFAULT,
                XidOverrides.NONE);

        var answer = new AllocationTableFactory(settings, HOST)
                .table(ResourcePlan.GPU, shared(2))
                .allocate(List.of(List.of(uuid(0) + "::1")));

        assertThat(answer).isInstanceOfSatisfying(Accepted.class, granted -> {
            ContainerAllocation allocation = granted.containers().getFirst();
            assertThat(allocation.environment()).containsEntry("CUDA_MPS_PIPE_DIRECTORY", "/mps/nvidia.com/gpu/pipe");
            assertThat(allocation.mounts())
                    .containsExactly(
                            new Mount("/run/mps/nvidia.com/gpu/pipe", "/mps/nvidia.com/gpu/pipe", false),
                            new Mount("/run/mps/nvidia.com/gpu/shm", "/dev/shm", false));
        });
    }

    @Test
    void volumeMountsNameDevicesByPathsThatAPodCannotForge() {
        ContainerAllocation allocation =
                allocate(withStrategies(DeviceListStrategy.ENVVAR, DeviceListStrategy.VOLUME_MOUNTS), uuid(0), uuid(1));

        assertThat(allocation.environment()).containsOnly(Map.entry(VISIBLE, "/var/run/nvidia-container-devices"));
        assertThat(allocation.mounts())
                .containsExactly(
                        new Mount("/dev/null", "/var/run/nvidia-container-devices/" + uuid(0)),
                        new Mount("/dev/null", "/var/run/nvidia-container-devices/" + uuid(1)));
    }

    @Test
    void annotationOfEachResourceHasAKeyOfItsOwn() {
        AllocateSettings settings = withStrategies(DeviceListStrategy.CDI_ANNOTATIONS);

        assertThat(allocate(settings, uuid(0), uuid(1)).annotations())
                .containsOnly(Map.entry(
                        "cdi.k8s.io/gpufleet_nvidia.com_gpu",
                        "gpufleet.io/gpu=" + uuid(0) + ",gpufleet.io/gpu=" + uuid(1)));
        assertThat(DeviceInjection.ByCdiAnnotation.key("cdi.k8s.io/", "example.com/" + "x".repeat(80)))
                .hasSize("cdi.k8s.io/".length() + 63);
    }

    @Test
    void devicesAreNamedByIndexOnRequest() {
        AllocateSettings settings = settingsWith(
                withStrategies(DeviceListStrategy.ENVVAR, DeviceListStrategy.CDI_CRI),
                DeviceIdStrategy.INDEX,
                Set.of(),
                ImexMode.OFF);

        ContainerAllocation allocation = allocate(settings, uuid(0), uuid(1));

        assertThat(allocation.environment()).containsEntry(VISIBLE, "0,1");
        assertThat(allocation.cdiDevices()).containsExactly("gpufleet.io/gpu=0", "gpufleet.io/gpu=1");
    }

    @Test
    void hostMountsGiveDriverDirectoryAndDeviceNodesAndNoPath() {
        ContainerAllocation allocation = allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS), uuid(1));

        assertThat(allocation.environment()).containsOnly(entry(VISIBLE, "void"));
        assertThat(allocation.mounts()).containsExactly(new Mount("/home/kubernetes/bin/nvidia", "/usr/local/nvidia"));
        assertThat(allocation.deviceNodes())
                .containsExactly(new DeviceNode("/dev/nvidiactl", "rw"), new DeviceNode("/dev/nvidia1", "rw"));
    }

    @Test
    void driverComesByOneWayOnly() {
        ContainerAllocation allocation =
                allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS, DeviceListStrategy.CDI_CRI), uuid(1));

        assertThat(allocation.mounts()).isEmpty();
        assertThat(allocation.deviceNodes()).contains(new DeviceNode("/dev/nvidia1", "rw"));
        assertThat(allocation.cdiDevices()).containsExactly("gpufleet.io/gpu=" + uuid(1));
    }

    @Test
    void hostMountsIncludeTheVulkanFileOfTheDriver() {
        var host = new HostDeviceNodes(
                "",
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                HostDriver.ofVulkan("/d/nvidia_icd.json"),
                CdiNames.NOT_WRITTEN);

        assertThat(allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS).withDriverRoot("/"), host, LIST, uuid(0))
                        .mounts())
                .containsExactly(new Mount("/d/nvidia_icd.json", "/etc/vulkan/icd.d/nvidia_icd.json"));
    }

    @Test
    void driverInTheHostsOwnDirectoriesIsMountedFileByFile() {
        var libcuda = new Mount("/usr/lib64/libcuda.so.580.1", "/usr/local/nvidia/lib64/libcuda.so.1");
        HostDeviceNodes host = HostDeviceNodes.of(List.of()).withDriverFiles(List.of(libcuda));

        assertThat(allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS).withDriverRoot("/"), host, LIST, uuid(0))
                        .mounts())
                .containsExactly(libcuda);
    }

    @Test
    void libraryPathIsSetOnlyOnRequest() {
        var asked = new AllocateSettings(
                Set.of(DeviceListStrategy.HOST_MOUNTS),
                DeviceIdStrategy.UUID,
                false,
                Set.of(),
                ImexMode.OFF,
                "cdi.k8s.io/",
                new AllocateSettings.Driver("/opt/driver", true),
                false);

        assertThat(allocate(asked, uuid(0)).environment())
                .containsOnly(entry(VISIBLE, "void"), entry("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64"));
    }

    @Test
    void nodesBelowAnotherRootHaveTheirUsualPathInTheContainer() {
        var host = new HostDeviceNodes(
                "/run/nvidia/driver",
                List.of("/dev/nvidiactl"),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                HostDriver.NONE,
                CdiNames.NOT_WRITTEN);

        assertThat(allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS), host, LIST, uuid(0))
                        .deviceNodes())
                .contains(new DeviceNode("/run/nvidia/driver/dev/nvidia0", "/dev/nvidia0", "rw"));
    }

    @Test
    void migInstanceComesWithItsParentAndItsCapabilities() {
        // Given
        var instance = new MigInstance(
                "MIG-1",
                "1g.10gb",
                3,
                7,
                0,
                new MigInstance.Attributes(
                        10L << 30, 16, new MigInstance.Slices(1, 1), new MigInstance.Engines(1, 0, 0, 0, 0)),
                List.of("/dev/nvidia-caps/nvidia-cap66", "/dev/nvidia-caps/nvidia-cap67"),
                new Reading.Unavailable<>("not read"));
        var offer = new OfferedDevice(
                "MIG-1",
                TestGpus.gpu(1),
                new GpuPartition.Mig(instance),
                "nvidia.com/mig-1g.10gb",
                1,
                new OfferedDevice.Health(true, true, false, ""));
        AllocateSettings settings = settingsWith(
                withStrategies(DeviceListStrategy.ENVVAR, DeviceListStrategy.HOST_MOUNTS),
                DeviceIdStrategy.INDEX,
                Set.of(),
                ImexMode.OFF);

        // When
        ContainerAllocation allocation = allocate(settings, HOST, new DeviceList(1, List.of(offer)), "MIG-1");

        // Then
        assertThat(allocation.environment()).containsEntry(VISIBLE, "1:3");
        assertThat(allocation.deviceNodes())
                .extracting(DeviceNode::path)
                .containsExactly(
                        "/dev/nvidiactl",
                        "/dev/nvidia1",
                        "/dev/nvidia-caps/nvidia-cap66",
                        "/dev/nvidia-caps/nvidia-cap67");
    }

    @Test
    void kernelInterfacesAreInjectedByEveryStrategy() {
        AllocateSettings settings = settingsWith(
                withStrategies(DeviceListStrategy.ENVVAR, DeviceListStrategy.HOST_MOUNTS, DeviceListStrategy.CDI_CRI),
                DeviceIdStrategy.UUID,
                EnumSet.allOf(KernelInterface.class),
                ImexMode.OPTIONAL);

        ContainerAllocation allocation = allocate(settings, uuid(0));

        assertThat(allocation.environment())
                .containsEntry("NVIDIA_GDS", "enabled")
                .containsEntry("NVIDIA_GDRCOPY", "enabled")
                .containsEntry("NVIDIA_MOFED", "enabled")
                .containsEntry("NVIDIA_IMEX_CHANNELS", "0");
        assertThat(allocation.deviceNodes())
                .extracting(DeviceNode::path)
                .contains(
                        "/dev/gdrdrv",
                        "/dev/nvidia-fs0",
                        "/dev/infiniband/uverbs0",
                        "/dev/nvidia-caps-imex-channels/channel0");
        // The spec of this host has no gdrcopy and no mofed: their names would prevent the container's start.
        assertThat(allocation.cdiDevices())
                .containsExactly("gpufleet.io/gpu=" + uuid(0), "gpufleet.io/gpu=gds", "gpufleet.io/gpu=imex-channel-0");
    }

    @ParameterizedTest
    @EnumSource(
            value = DeviceListStrategy.class,
            names = {"CDI_CRI", "CDI_ANNOTATIONS"})
    void kernelInterfacesAreInTheEnvironmentWithCdiToo(DeviceListStrategy strategy) {
        AllocateSettings settings = settingsWith(
                withStrategies(strategy), DeviceIdStrategy.UUID, EnumSet.allOf(KernelInterface.class), ImexMode.OFF);

        assertThat(allocate(settings, uuid(0)).environment())
                .containsOnly(
                        entry("NVIDIA_GDS", "enabled"),
                        entry("NVIDIA_GDRCOPY", "enabled"),
                        entry("NVIDIA_MOFED", "enabled"));
    }

    @Test
    void hostMountsHideAllDevicesFromTheContainerRuntime() {
        assertThat(allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS), uuid(1))
                        .environment())
                .containsEntry(VISIBLE, "void");
        assertThat(allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS, DeviceListStrategy.CDI_CRI), uuid(1))
                        .environment())
                .containsEntry(VISIBLE, "void");
        // A strategy that names devices to the runtime goes first.
        assertThat(allocate(withStrategies(DeviceListStrategy.HOST_MOUNTS, DeviceListStrategy.ENVVAR), uuid(1))
                        .environment())
                .containsEntry(VISIBLE, uuid(1));
    }

    @Test
    void volumeMountsNameTheImexChannelAsAMount() {
        AllocateSettings settings = settingsWith(
                withStrategies(DeviceListStrategy.VOLUME_MOUNTS), DeviceIdStrategy.UUID, Set.of(), ImexMode.REQUIRED);

        assertThat(allocate(settings, uuid(0)).mounts())
                .contains(new Mount("/dev/null", "/var/run/nvidia-container-devices/imex/0"));
    }

    @Test
    void missingOptionalImexChannelIsLeftOut() {
        AllocateSettings settings = settingsWith(
                withStrategies(DeviceListStrategy.ENVVAR), DeviceIdStrategy.UUID, Set.of(), ImexMode.OPTIONAL);

        assertThat(allocate(settings, HostDeviceNodes.NONE, LIST, uuid(0)).environment())
                .containsOnlyKeys(VISIBLE);
    }

    @Test
    void deviceNodesAreAddedOnRequest() {
        var settings = new AllocateSettings(
                Set.of(DeviceListStrategy.ENVVAR),
                DeviceIdStrategy.UUID,
                true,
                Set.of(KernelInterface.GDS),
                ImexMode.OPTIONAL,
                "cdi.k8s.io/",
                new AllocateSettings.Driver("/opt/driver", false),
                false);

        ContainerAllocation allocation = allocate(settings, uuid(0));

        assertThat(allocation.mounts()).isEmpty();
        assertThat(allocation.deviceNodes())
                .extracting(DeviceNode::path)
                .containsExactly("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-caps-imex-channels/channel0");
    }

    @Test
    void containerMayRestartOnADeviceThatCannotBeAllocatedNow() {
        assertThat(table(withStrategies(DeviceListStrategy.CDI_CRI), HOST.with(CdiNames.NOT_WRITTEN), LIST)
                        .refusal(List.of(uuid(0)), new HashSet<>()))
                .isEmpty();
    }
}
