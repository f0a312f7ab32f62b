package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Asked.HOST;
import static io.gpufleet.nodedaemon.model.Asked.LIST;
import static io.gpufleet.nodedaemon.model.Asked.VISIBLE;
import static io.gpufleet.nodedaemon.model.Asked.by;
import static io.gpufleet.nodedaemon.model.Asked.full;
import static io.gpufleet.nodedaemon.model.Asked.grant;
import static io.gpufleet.nodedaemon.model.Asked.table;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Grant;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Granted;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Imex;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Pick;
import io.gpufleet.nodedaemon.model.settings.SharePlan.SharedResource;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AllocatorTest {
    @Test
    void envvarNamesTheGpusInTheOrderOfTheList() {
        Grant grant = grant(by(Strategy.ENVVAR), uuid(1), uuid(0));

        assertThat(grant.environment()).containsOnly(Map.entry(VISIBLE, uuid(0) + "," + uuid(1)));
        assertThat(grant.mounts()).isEmpty();
        assertThat(grant.deviceNodes()).isEmpty();
    }

    @Test
    void sharesOfOneDeviceAreOneDevice() {
        DeviceList shares = shared(3);

        Grant grant = grant(by(Strategy.ENVVAR, Strategy.CDI_CRI), HOST, shares, uuid(0) + "::2", uuid(0) + "::0");

        assertThat(grant.environment()).containsEntry(VISIBLE, uuid(0));
        assertThat(grant.cdiDevices()).containsExactly("gpufleet.io/gpu=" + uuid(0));
    }

    private static DeviceList shared(int replicas) {
        return new DeviceList(
                1,
                IntStream.range(0, replicas)
                        .mapToObj(n -> new Offer(
                                uuid(0) + "::" + n,
                                Some.gpu(0),
                                new Part.Whole(),
                                ResourcePlan.GPU,
                                replicas,
                                true,
                                true,
                                false,
                                ""))
                        .toList());
    }

    @Test
    void sharersFindTheirMpsControlDaemon() {
        var settings = new PluginSettings(
                MigStrategy.NONE,
                new SharePlan(
                        SharePlan.Means.MPS,
                        false,
                        true,
                        List.of(new SharedResource(ResourcePlan.GPU, "", new Pick.All(), 2)),
                        "/run/mps"),
                ReplicaOrder.DISTRIBUTED,
                AllocateSettings.STANDARD,
                XidOverrides.NONE);

        var answer = new Allocator(settings, HOST)
                .table(ResourcePlan.GPU, shared(2))
                .answer(List.of(List.of(uuid(0) + "::1")));

        assertThat(answer).isInstanceOfSatisfying(Granted.class, granted -> {
            Grant grant = granted.containers().getFirst();
            assertThat(grant.environment()).containsEntry("CUDA_MPS_PIPE_DIRECTORY", "/mps/nvidia.com/gpu/pipe");
            assertThat(grant.mounts())
                    .containsExactly(
                            new Mount("/run/mps/nvidia.com/gpu/pipe", "/mps/nvidia.com/gpu/pipe", false),
                            new Mount("/run/mps/nvidia.com/gpu/shm", "/dev/shm", false));
        });
    }

    @Test
    void volumeMountsNameDevicesByPathsThatAPodCanNotForge() {
        Grant grant = grant(by(Strategy.ENVVAR, Strategy.VOLUME_MOUNTS), uuid(0), uuid(1));

        assertThat(grant.environment()).containsOnly(Map.entry(VISIBLE, "/var/run/nvidia-container-devices"));
        assertThat(grant.mounts())
                .containsExactly(
                        new Mount("/dev/null", "/var/run/nvidia-container-devices/" + uuid(0)),
                        new Mount("/dev/null", "/var/run/nvidia-container-devices/" + uuid(1)));
    }

    @Test
    void annotationOfEachResourceHasAKeyOfItsOwn() {
        AllocateSettings settings = by(Strategy.CDI_ANNOTATIONS);

        assertThat(grant(settings, uuid(0), uuid(1)).annotations())
                .containsOnly(Map.entry(
                        "cdi.k8s.io/gpufleet_nvidia.com_gpu",
                        "gpufleet.io/gpu=" + uuid(0) + ",gpufleet.io/gpu=" + uuid(1)));
        assertThat(Injection.ByCdiAnnotation.key("cdi.k8s.io/", "example.com/" + "x".repeat(80)))
                .hasSize("cdi.k8s.io/".length() + 63);
    }

    @Test
    void devicesAreNamedByIndexWhereAsked() {
        AllocateSettings settings = full(by(Strategy.ENVVAR, Strategy.CDI_CRI), IdNames.INDEX, Set.of(), Imex.OFF);

        Grant grant = grant(settings, uuid(0), uuid(1));

        assertThat(grant.environment()).containsEntry(VISIBLE, "0,1");
        assertThat(grant.cdiDevices()).containsExactly("gpufleet.io/gpu=0", "gpufleet.io/gpu=1");
    }

    @Test
    void hostMountsGiveDriverDirectoryAndDeviceNodesAndNoPath() {
        Grant grant = grant(by(Strategy.HOST_MOUNTS), uuid(1));

        assertThat(grant.environment()).isEmpty();
        assertThat(grant.mounts()).containsExactly(new Mount("/home/kubernetes/bin/nvidia", "/usr/local/nvidia"));
        assertThat(grant.deviceNodes())
                .containsExactly(new DeviceNode("/dev/nvidiactl", "rw"), new DeviceNode("/dev/nvidia1", "rw"));
    }

    @Test
    void driverComesByOneWayOnly() {
        Grant grant = grant(by(Strategy.HOST_MOUNTS, Strategy.CDI_CRI), uuid(1));

        assertThat(grant.mounts()).isEmpty();
        assertThat(grant.deviceNodes()).contains(new DeviceNode("/dev/nvidia1", "rw"));
        assertThat(grant.cdiDevices()).containsExactly("gpufleet.io/gpu=" + uuid(1));
    }

    @Test
    void hostMountsGiveTheVulkanDescriptionWhereTheDriverHasOne() {
        var host = new HostNodes(
                "", List.of(), List.of(), List.of(), List.of(), List.of(), "/d/nvidia_icd.json", CdiNames.NOT_WRITTEN);

        assertThat(grant(by(Strategy.HOST_MOUNTS).at("/"), host, LIST, uuid(0)).mounts())
                .containsExactly(new Mount("/d/nvidia_icd.json", "/etc/vulkan/icd.d/nvidia_icd.json"));
    }

    @Test
    void libraryPathIsSetOnlyWhereAskedFor() {
        var asked = new AllocateSettings(
                Set.of(Strategy.HOST_MOUNTS),
                IdNames.UUID,
                false,
                Set.of(),
                Imex.OFF,
                "cdi.k8s.io/",
                "/opt/driver",
                true,
                false);

        assertThat(grant(asked, uuid(0)).environment())
                .containsOnly(Map.entry("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64"));
    }

    @Test
    void nodesBelowAnotherRootStandWhereProgramsExpectThem() {
        var host = new HostNodes(
                "/run/nvidia/driver",
                List.of("/dev/nvidiactl"),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                "",
                CdiNames.NOT_WRITTEN);

        assertThat(grant(by(Strategy.HOST_MOUNTS), host, LIST, uuid(0)).deviceNodes())
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
                new MigInstance.Attributes(10L << 30, 16, 1, 1, 1, 0, 0, 0, 0),
                List.of("/dev/nvidia-caps/nvidia-cap66", "/dev/nvidia-caps/nvidia-cap67"),
                new Reading.Unavailable<>("not read"));
        var offer = new Offer(
                "MIG-1", Some.gpu(1), new Part.Slice(instance), "nvidia.com/mig-1g.10gb", 1, true, true, false, "");
        AllocateSettings settings = full(by(Strategy.ENVVAR, Strategy.HOST_MOUNTS), IdNames.INDEX, Set.of(), Imex.OFF);

        // When
        Grant grant = grant(settings, HOST, new DeviceList(1, List.of(offer)), "MIG-1");

        // Then
        assertThat(grant.environment()).containsEntry(VISIBLE, "1:3");
        assertThat(grant.deviceNodes())
                .extracting(DeviceNode::path)
                .containsExactly(
                        "/dev/nvidiactl",
                        "/dev/nvidia1",
                        "/dev/nvidia-caps/nvidia-cap66",
                        "/dev/nvidia-caps/nvidia-cap67");
    }

    @Test
    void kernelInterfacesComeAsEachStrategyCanNameThem() {
        AllocateSettings settings = full(
                by(Strategy.ENVVAR, Strategy.HOST_MOUNTS, Strategy.CDI_CRI),
                IdNames.UUID,
                EnumSet.allOf(Extra.class),
                Imex.OPTIONAL);

        Grant grant = grant(settings, uuid(0));

        assertThat(grant.environment())
                .containsEntry("NVIDIA_GDS", "enabled")
                .containsEntry("NVIDIA_GDRCOPY", "enabled")
                .containsEntry("NVIDIA_MOFED", "enabled")
                .containsEntry("NVIDIA_IMEX_CHANNELS", "0");
        assertThat(grant.deviceNodes())
                .extracting(DeviceNode::path)
                .contains(
                        "/dev/gdrdrv",
                        "/dev/nvidia-fs0",
                        "/dev/infiniband/uverbs0",
                        "/dev/nvidia-caps-imex-channels/channel0");
        // The spec of this host has no gdrcopy and no mofed: naming them would keep the container from starting.
        assertThat(grant.cdiDevices())
                .containsExactly("gpufleet.io/gpu=" + uuid(0), "gpufleet.io/gpu=gds", "gpufleet.io/gpu=imex-channel-0");
    }

    @Test
    void volumeMountsNameTheImexChannelAsAMount() {
        AllocateSettings settings = full(by(Strategy.VOLUME_MOUNTS), IdNames.UUID, Set.of(), Imex.REQUIRED);

        assertThat(grant(settings, uuid(0)).mounts())
                .contains(new Mount("/dev/null", "/var/run/nvidia-container-devices/imex/0"));
    }

    @Test
    void optionalImexChannelThatIsNotThereIsLeftOut() {
        AllocateSettings settings = full(by(Strategy.ENVVAR), IdNames.UUID, Set.of(), Imex.OPTIONAL);

        assertThat(grant(settings, HostNodes.NONE, LIST, uuid(0)).environment()).containsOnlyKeys(VISIBLE);
    }

    @Test
    void deviceNodesComeBesideTheNamesWhereAsked() {
        var settings = new AllocateSettings(
                Set.of(Strategy.ENVVAR),
                IdNames.UUID,
                true,
                Set.of(Extra.GDS),
                Imex.OPTIONAL,
                "cdi.k8s.io/",
                "/opt/driver",
                false,
                false);

        Grant grant = grant(settings, uuid(0));

        assertThat(grant.mounts()).isEmpty();
        assertThat(grant.deviceNodes())
                .extracting(DeviceNode::path)
                .containsExactly("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-caps-imex-channels/channel0");
    }

    @Test
    void containerMayStartAgainOnADeviceThatCouldNotBeHandedOutNow() {
        assertThat(table(by(Strategy.CDI_CRI), HOST.with(CdiNames.NOT_WRITTEN), LIST)
                        .refusal(List.of(uuid(0)), new HashSet<>()))
                .isEmpty();
    }
}
