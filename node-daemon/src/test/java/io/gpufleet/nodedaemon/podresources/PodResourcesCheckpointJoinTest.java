package io.gpufleet.nodedaemon.podresources;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.podresources.KubeletCheckpoint.PodDevicesEntry;
import io.gpufleet.proto.kubelet.podresources.ClaimResource;
import io.gpufleet.proto.kubelet.podresources.ContainerDevices;
import io.gpufleet.proto.kubelet.podresources.ContainerResources;
import io.gpufleet.proto.kubelet.podresources.DynamicResource;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.PodResources;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PodResourcesCheckpointJoinTest {
    private static final String GPU = "nvidia.com/gpu";
    private static final String MIG = "nvidia.com/mig-1g.5gb";

    private static ContainerResources container(String name, String resource, String... ids) {
        return ContainerResources.newBuilder()
                .setName(name)
                .addDevices(
                        ContainerDevices.newBuilder().setResourceName(resource).addAllDeviceIds(List.of(ids)))
                .build();
    }

    private static PodResources pod(String name, ContainerResources... containers) {
        return PodResources.newBuilder()
                .setNamespace("team-a")
                .setName(name)
                .addAllContainers(List.of(containers))
                .build();
    }

    private static PodDevicesEntry entry(String uid, String container, String resource, String... ids) {
        return new PodDevicesEntry(uid, container, resource, Set.of(ids));
    }

    private static Holdings join(List<PodResources> pods, PodDevicesEntry... entries) {
        return join(pods, List.of(entries), List.of(entries));
    }

    private static Holdings join(List<PodResources> pods, List<PodDevicesEntry> before, List<PodDevicesEntry> after) {
        var checkpoint = new KubeletCheckpoint(after, true);
        return new PodResourcesCheckpointJoin(
                        name -> name.startsWith("nvidia.com/"),
                        checkpoint,
                        checkpoint.entriesAlsoIn(new KubeletCheckpoint(before, true)),
                        false)
                .join(ListPodResourcesResponse.newBuilder()
                        .addAllPodResources(pods)
                        .build());
    }

    private static Holder holder(String pod, String uid, String container, String resource, String... ids) {
        return new Holder("team-a", pod, uid, container, resource, List.of(ids));
    }

    @Test
    void uidComesFromTheEntryOfTheSameContainerAndDevices() {
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g1", "g0")), pod("b", container("main", GPU, "g2"))),
                entry("uid-b", "main", GPU, "g2"),
                entry("uid-a", "main", GPU, "g0", "g1"));

        assertThat(holdings.holders())
                .containsExactly(
                        holder("a", "uid-a", "main", GPU, "g0", "g1"), holder("b", "uid-b", "main", GPU, "g2"));
        assertThat(holdings.complete()).isTrue();
    }

    @Test
    void replicasOfOneGpuBelongToTheirPods() {
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g0::0")), pod("b", container("main", GPU, "g0::1"))),
                entry("uid-a", "main", GPU, "g0::0"),
                entry("uid-b", "main", GPU, "g0::1"));

        assertThat(holdings.holders()).extracting(Holder::podUid).containsExactly("uid-a", "uid-b");
    }

    @Test
    void instancesOfSeveralProfilesAreListedByResource() {
        var both = ContainerResources.newBuilder()
                .setName("main")
                .addDevices(ContainerDevices.newBuilder().setResourceName(MIG).addDeviceIds("MIG-1"))
                .addDevices(ContainerDevices.newBuilder().setResourceName(GPU).addDeviceIds("g0"))
                .addDevices(ContainerDevices.newBuilder().setResourceName(MIG).addDeviceIds("MIG-0"))
                .addDevices(ContainerDevices.newBuilder()
                        .setResourceName("other.com/nic")
                        .addDeviceIds("n0"))
                .build();

        Holdings holdings = join(
                List.of(pod("a", both)),
                entry("uid-a", "main", MIG, "MIG-0", "MIG-1"),
                entry("uid-a", "main", GPU, "g0"));

        assertThat(holdings.holders())
                .containsExactly(
                        holder("a", "uid-a", "main", GPU, "g0"), holder("a", "uid-a", "main", MIG, "MIG-0", "MIG-1"));
    }

    @Test
    void initContainerThatPodresourcesOmitsIsListed() {
        // Given a pod whose init container has a GPU that was not passed on to a container
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g0"))),
                entry("uid-a", "fetch", GPU, "g1"),
                entry("uid-a", "main", GPU, "g0"));

        assertThat(holdings.holders())
                .containsExactly(holder("a", "uid-a", "fetch", GPU, "g1"), holder("a", "uid-a", "main", GPU, "g0"));
        assertThat(holdings.complete()).isTrue();
    }

    @Test
    void deviceReusedFromAnInitContainerIsHeldOnce() {
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g0"))),
                entry("uid-a", "fetch", GPU, "g0"),
                entry("uid-a", "main", GPU, "g0"));

        assertThat(holdings.holders()).containsExactly(holder("a", "uid-a", "main", GPU, "g0"));
    }

    @Test
    void entryOfAPodThatIsNotListedIsIgnored() {
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g0"))),
                entry("uid-a", "main", GPU, "g0"),
                entry("uid-gone", "main", GPU, "g5"));

        assertThat(holdings.holders()).containsExactly(holder("a", "uid-a", "main", GPU, "g0"));
        assertThat(holdings.complete()).isFalse();
    }

    @Test
    void contradictingUidsOfContainersAreUnknown() {
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g0"), container("side", GPU, "g1"))),
                entry("uid-old", "main", GPU, "g0"),
                entry("uid-new", "side", GPU, "g1"));

        assertThat(holdings.holders()).extracting(Holder::podUid).containsExactly("", "");
    }

    @Test
    void oneContainerResolvesWhatIsAmbiguousForAnother() {
        Holdings holdings = join(
                List.of(pod("a", container("main", GPU, "g0"), container("side", GPU, "g1"))),
                entry("uid-old", "main", GPU, "g0"),
                entry("uid-new", "main", GPU, "g0"),
                entry("uid-new", "side", GPU, "g1"));

        assertThat(holdings.holders()).extracting(Holder::podUid).containsExactly("uid-new", "uid-new");
    }

    @Test
    void podRecreatedDuringTheQueryHasNoUidYet() {
        Holdings holdings = join(
                List.of(pod("train-0", container("main", GPU, "g0"))),
                List.of(entry("uid-old", "main", GPU, "g0")),
                List.of(entry("uid-new", "main", GPU, "g0")));

        assertThat(holdings.holders()).containsExactly(holder("train-0", "", "main", GPU, "g0"));
    }

    private static ContainerResources claiming(String container, String driver, String... devices) {
        var claim = DynamicResource.newBuilder().setClaimName("claim-1").setClaimNamespace("team-a");
        for (String device : devices) {
            claim.addClaimResources(ClaimResource.newBuilder()
                    .setDriverName(driver)
                    .setPoolName("n1")
                    .setDeviceName(device));
        }
        return ContainerResources.newBuilder()
                .setName(container)
                .addDynamicResources(claim)
                .build();
    }

    @Test
    void devicesOfAClaimAreHeldByEveryContainerThatUsesIt() {
        Holdings holdings = join(List.of(pod(
                "a",
                claiming("main", "gpu.nvidia.com", "gpu-1", "gpu-0"),
                claiming("side", "gpu.nvidia.com", "gpu-0"),
                claiming("net", "nic.example.com", "nic-0"))));

        assertThat(holdings.holders())
                .containsExactly(
                        holder("a", "", "main", Holder.DRA_DRIVER, "gpu-0", "gpu-1"),
                        holder("a", "", "side", Holder.DRA_DRIVER, "gpu-0"));
        assertThat(holdings.complete()).isTrue();
    }
}
