package io.gpufleet.inventory.model.label;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.onFabric;
import static io.gpufleet.inventory.model.TestNodes.shared;
import static io.gpufleet.inventory.model.TestNodes.v100;
import static io.gpufleet.inventory.model.TestNodes.vgpu;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.TestNodes;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The labels that follow from an announcement, value by value. */
class NodeLabelsTest {
    private static final Set<LabelGroup> ALL = EnumSet.allOf(LabelGroup.class);

    private static Map<String, String> labels(Announcement announcement) {
        return NodeLabels.of(node("n1", announcement), ALL).orElseThrow().labels();
    }

    @Test
    void a100LabelsEqualThoseOfGpuFeatureDiscovery() {
        assertThat(labels(announcement(a100(0), a100(1))))
                .containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
                        Map.entry("nvidia.com/gpu.present", "true"),
                        Map.entry("nvidia.com/gpu.machine", "DGXA100-920-23687-2530-000"),
                        Map.entry("nvidia.com/gpu.count", "2"),
                        Map.entry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"),
                        Map.entry("nvidia.com/gpu.memory", "40960"),
                        Map.entry("nvidia.com/gpu.replicas", "1"),
                        Map.entry("nvidia.com/gpu.sharing-strategy", "none"),
                        Map.entry("nvidia.com/gpu.family", "ampere"),
                        Map.entry("nvidia.com/gpu.compute.major", "8"),
                        Map.entry("nvidia.com/gpu.compute.minor", "0"),
                        Map.entry("nvidia.com/gpu.mode", "compute"),
                        Map.entry("nvidia.com/mig.capable", "true"),
                        Map.entry("nvidia.com/mps.capable", "false"),
                        Map.entry("nvidia.com/vgpu.present", "false"),
                        Map.entry("nvidia.com/cuda.driver.major", "550"),
                        Map.entry("nvidia.com/cuda.driver.minor", "54"),
                        Map.entry("nvidia.com/cuda.driver.rev", "15"),
                        Map.entry("nvidia.com/cuda.driver-version.major", "550"),
                        Map.entry("nvidia.com/cuda.driver-version.minor", "54"),
                        Map.entry("nvidia.com/cuda.driver-version.revision", "15"),
                        Map.entry("nvidia.com/cuda.driver-version.full", "550.54.15"),
                        Map.entry("nvidia.com/cuda.runtime.major", "12"),
                        Map.entry("nvidia.com/cuda.runtime.minor", "4"),
                        Map.entry("nvidia.com/cuda.runtime-version.major", "12"),
                        Map.entry("nvidia.com/cuda.runtime-version.minor", "4"),
                        Map.entry("nvidia.com/cuda.runtime-version.full", "12.4"),
                        Map.entry("gpu-type", "a100"),
                        Map.entry("gpu-memory", "40Gi"),
                        Map.entry("accelerator", "nvidia-tesla-a100"),
                        Map.entry("alpha.kubernetes.io/nvidia-gpu-name", "NVIDIA-A100-SXM4-40GB"),
                        Map.entry("gpufleet.io/models", "NVIDIA-A100-SXM4-40GB")));
    }

    @Test
    void h100IsLabelledWithItsOwnValues() {
        assertThat(labels(announcement(h100(0))))
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
                .containsEntry("nvidia.com/gpu.memory", "81559")
                .containsEntry("nvidia.com/gpu.family", "hopper")
                .containsEntry("nvidia.com/gpu.compute.major", "9")
                .containsEntry("gpu-type", "h100")
                .containsEntry("gpu-memory", "80Gi")
                .containsEntry("accelerator", "nvidia-h100");
    }

    @Test
    void hostDriverLabelsExistOnlyForVgpus() {
        assertThat(labels(announcement(a100(0), vgpu(a100(1), "525.60", "r525_00"))))
                .containsEntry("nvidia.com/vgpu.present", "true")
                .containsEntry("nvidia.com/vgpu.host-driver-version", "525.60")
                .containsEntry("nvidia.com/vgpu.host-driver-branch", "r525_00");
        assertThat(labels(announcement(a100(0))))
                .containsEntry("nvidia.com/vgpu.present", "false")
                .doesNotContainKeys("nvidia.com/vgpu.host-driver-version", "nvidia.com/vgpu.host-driver-branch");
    }

    @Test
    void v100HasTheLegacyLabels() {
        assertThat(labels(announcement(v100(0))))
                .containsEntry("accelerator", "nvidia-tesla-v100")
                .containsEntry("alpha.kubernetes.io/nvidia-gpu-name", "Tesla-V100-SXM2-16GB")
                .containsEntry("gpu-memory", "16Gi")
                .containsEntry("nvidia.com/mig.capable", "false");
    }

    @Test
    void sharedGpuHasProductSuffixUnlessRenamed() {
        Gpu sliced = shared(a100(0), Gpu.Sharing.SharingStrategy.TIME_SLICING, 4, "nvidia.com/gpu");
        Gpu renamed = shared(a100(0), Gpu.Sharing.SharingStrategy.MPS, 4, "nvidia.com/gpu.shared");

        assertThat(labels(announcement(sliced)))
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-SHARED")
                .containsEntry("nvidia.com/gpu.replicas", "4")
                .containsEntry("nvidia.com/gpu.sharing-strategy", "time-slicing")
                .containsEntry("nvidia.com/mps.capable", "false");
        assertThat(labels(announcement(renamed)))
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB")
                .containsEntry("nvidia.com/gpu.replicas", "4")
                .containsEntry("nvidia.com/gpu.sharing-strategy", "mps")
                .containsEntry("nvidia.com/mps.capable", "true");
    }

    @Test
    void migGpuWithoutStrategyHasZeroReplicas() {
        assertThat(labels(announcement(migGpu(0, "1g.5gb", 7))))
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB")
                .containsEntry("nvidia.com/gpu.replicas", "0")
                .doesNotContainKey("nvidia.com/mig.strategy");
    }

    @Test
    void singleStrategyLabelsInstancesAsGpus() {
        assertThat(labels(
                        announcement(Announcement.MigStrategy.SINGLE, migGpu(0, "1g.5gb", 7), migGpu(1, "1g.5gb", 7))))
                .containsEntry("nvidia.com/mig.strategy", "single")
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb")
                .containsEntry("nvidia.com/gpu.count", "14")
                .containsEntry("nvidia.com/gpu.memory", "4864")
                .containsEntry("nvidia.com/gpu.replicas", "1")
                .containsEntry("nvidia.com/gpu.multiprocessors", "14")
                .containsEntry("nvidia.com/gpu.slices.gi", "1")
                .containsEntry("nvidia.com/gpu.slices.ci", "1")
                .containsEntry("nvidia.com/gpu.engines.copy", "1")
                .containsEntry("nvidia.com/gpu.engines.decoder", "2")
                .containsEntry("nvidia.com/gpu.engines.encoder", "0")
                .containsEntry("nvidia.com/gpu.engines.jpeg", "1")
                .containsEntry("nvidia.com/gpu.engines.ofa", "0");
    }

    @Test
    void singleStrategyWithDifferentProfilesIsInvalid() {
        Announcement[] invalid = {
            announcement(Announcement.MigStrategy.SINGLE, migGpu(0, "1g.5gb", 7), migGpu(1, "2g.10gb", 3)),
            announcement(Announcement.MigStrategy.SINGLE, migGpu(0, "1g.5gb", 7), a100(1)),
            announcement(Announcement.MigStrategy.SINGLE, migGpu(0, "1g.5gb", 0)),
        };
        for (Announcement announcement : invalid) {
            assertThat(labels(announcement))
                    .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-INVALID")
                    .containsEntry("nvidia.com/gpu.count", "0")
                    .containsEntry("nvidia.com/gpu.replicas", "0")
                    .containsEntry("nvidia.com/gpu.memory", "0")
                    .containsEntry("nvidia.com/gpu.sharing-strategy", "");
        }
    }

    @Test
    void mixedStrategyLabelsEachProfile() {
        assertThat(labels(announcement(
                        Announcement.MigStrategy.MIXED, a100(0), migGpu(1, "1g.5gb", 4), migGpu(2, "1g.10gb+me", 1))))
                .containsEntry("nvidia.com/mig.strategy", "mixed")
                .containsEntry("nvidia.com/gpu.count", "3")
                .containsEntry("nvidia.com/gpu.replicas", "1")
                .containsEntry("nvidia.com/mig-1g.5gb.count", "4")
                .containsEntry("nvidia.com/mig-1g.5gb.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb")
                .containsEntry("nvidia.com/mig-1g.10gb.me.count", "1")
                .containsEntry("nvidia.com/mig-1g.10gb.me.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.10gb.me");
    }

    @Test
    void majorityModelLabelsAMixedNodeAndTiesGoByName() {
        assertThat(labels(announcement(a100(0), h100(1), h100(2))))
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
                .containsEntry("nvidia.com/gpu.count", "2")
                .containsEntry("gpu-type", "h100")
                .containsEntry("gpufleet.io/models", "NVIDIA-A100-SXM4-40GB_NVIDIA-H100-80GB-HBM3");
        assertThat(labels(announcement(h100(0), a100(1))))
                .isEqualTo(labels(announcement(a100(1), h100(0))))
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB");
    }

    @Test
    void cliqueLabelExistsOnlyWhereAllGpusAgree() {
        assertThat(labels(announcement(onFabric(h100(0), "c1.3"), onFabric(h100(1), "c1.3"))))
                .containsEntry("nvidia.com/gpu.clique", "c1.3");
        assertThat(labels(announcement(onFabric(h100(0), "c1.3"), h100(1)))).doesNotContainKey("nvidia.com/gpu.clique");
    }

    @Test
    void installerIsLabelledByItsStateAndAnnotatedWithItsDetails() {
        var announcement = TestNodes.withInstaller(announcement(a100(0)), "ready 580.95.05, of the host");
        LabelSet labels = NodeLabels.of(node("n1", announcement), EnumSet.of(LabelGroup.DRIVER_INSTALLER))
                .orElseThrow();

        assertThat(labels)
                .isEqualTo(new LabelSet(
                        Map.of("gpufleet.io/driver-installer", "ready"),
                        Map.of("gpufleet.io/driver-installer", "ready 580.95.05, of the host")));
    }

    @Test
    void switchedOffGroupsAreAbsent() {
        var labels = NodeLabels.of(node("n1", announcement(a100(0))), EnumSet.of(LabelGroup.GPU_TYPE))
                .orElseThrow();
        assertThat(labels.labels()).isEqualTo(Map.of("gpu-type", "a100"));
    }

    @Test
    void unavailableDriverGivesNoLabelSetAndNoGpusGiveAnEmptyOne() {
        assertThat(NodeLabels.of(NodeState.unknown("n1"), ALL)).isEmpty();
        assertThat(NodeLabels.of(node("n1", TestNodes.withoutDriver(Announcement.DriverState.NOT_LOADED)), ALL))
                .isEmpty();
        assertThat(NodeLabels.of(node("n1", announcement()), ALL)).contains(LabelSet.NONE);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READY")
    void driverThatDoesNotRespondChangesNoLabel(Announcement.DriverState state) {
        // Given
        Gpu sliced = vgpu(
                shared(a100(0), Gpu.Sharing.SharingStrategy.TIME_SLICING, 4, "nvidia.com/gpu"), "525.60", "r525_00");
        NodeState ready = node(
                "n1",
                announcement(
                        Announcement.MigStrategy.MIXED,
                        onFabric(sliced, "c1.3"),
                        onFabric(migGpu(1, "1g.5gb", 2), "c1.3")));
        LabelSet before = NodeLabels.of(ready, ALL).orElseThrow();
        assertThat(before.labels())
                .containsKeys(
                        "nvidia.com/gpu.clique", "nvidia.com/vgpu.host-driver-branch", "nvidia.com/mig-1g.5gb.count");
        // When the daemon knows the GPUs, and not what only the driver answers
        NodeState held =
                ready.apply(new NodeDelta.NodeAnnounced(TestNodes.unanswered(state, "GPU-A100-0", "GPU-A100-1")));
        // Then
        assertThat(NodeLabels.of(held, ALL)).contains(before);
        assertThat(held.lastAnnouncement().orElseThrow().driver().state()).isEqualTo(state);
        // When it knows no GPU any more
        NodeState forgotten = held.apply(new NodeDelta.NodeAnnounced(TestNodes.withoutDriver(state)));
        // Then
        assertThat(NodeLabels.of(forgotten, ALL)).isEmpty();
        // When the driver responds with other values
        NodeState upgraded = held.apply(new NodeDelta.NodeAnnounced(announcement(a100(0))));
        assertThat(NodeLabels.of(upgraded, ALL).orElseThrow().labels())
                .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB")
                .containsEntry("nvidia.com/gpu.count", "1");
    }

    @Test
    void shortenedLabelValueIsAnnotatedInFull() {
        var gpus = new Gpu[] {a100(0), h100(1), v100(2)};

        LabelSet labels = NodeLabels.of(node("n1", announcement(gpus)), ALL).orElseThrow();

        assertThat(labels.labels().get("gpufleet.io/models")).hasSizeLessThanOrEqualTo(63);
        assertThat(labels.annotations())
                .isEqualTo(Map.of(
                        "gpufleet.io/models", "NVIDIA-A100-SXM4-40GB_NVIDIA-H100-80GB-HBM3_Tesla-V100-SXM2-16GB"));
    }

    @Test
    void alteredLabelValueIsAnnotatedInFull() {
        var mig = migGpu(0, "1g.10gb+me", 1);

        LabelSet labels = NodeLabels.of(node("n1", announcement(Announcement.MigStrategy.MIXED, mig)), ALL)
                .orElseThrow();

        assertThat(labels.annotations())
                .isEqualTo(Map.of("nvidia.com/mig-1g.10gb.me.product", "NVIDIA A100-SXM4-40GB-MIG-1g.10gb+me"));
    }
}
