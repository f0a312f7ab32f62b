package io.gpufleet.nodedaemon.simulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs of a simulated node. */
class SimulatedDevicesTest {
    @Test
    void uuidsFollowFromNodeIndexAndModel() {
        // When
        List<Gpu> gpus = SimulatedDevices.parse("node-1", "simulated:2xH100").gpus();

        // Then
        assertThat(gpus)
                .extracting(Gpu::uuid)
                .containsExactly(
                        "GPU-" + UUID.nameUUIDFromBytes("node-1/0/H100".getBytes(StandardCharsets.UTF_8)),
                        "GPU-" + UUID.nameUUIDFromBytes("node-1/1/H100".getBytes(StandardCharsets.UTF_8)));
        List<String> uuids = gpus.stream().map(Gpu::uuid).toList();
        assertThat(SimulatedDevices.parse("node-2", "simulated:2xH100").gpus())
                .extracting(Gpu::uuid)
                .doesNotContainAnyElementsOf(uuids);
        assertThat(SimulatedDevices.parse("node-1", "simulated:2xA100").gpus())
                .extracting(Gpu::uuid)
                .doesNotContainAnyElementsOf(uuids);
    }

    @Test
    void modelsMayBeMixed() {
        // When
        List<Gpu> gpus = SimulatedDevices.parse("n", "simulated:2xA100,1xt4").gpus();

        // Then
        assertThat(gpus).extracting(gpu -> gpu.product().shortModel()).containsExactly("A100", "A100", "T4");
        assertThat(gpus).extracting(Gpu::index).containsExactly(0, 1, 2);
        assertThat(gpus).extracting(Gpu::pciBusId).doesNotHaveDuplicates();
        assertThat(gpus).extracting(gpu -> gpu.identifiers().serial()).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({
        "V100, volta, 7.0, 17179869184",
        "T4, turing, 7.5, 16106127360",
        "A100, ampere, 8.0, 42949672960",
        "L40S, ada-lovelace, 8.9, 48305799168",
        "H100, hopper, 9.0, 85520809984",
        "H200, hopper, 9.0, 150754820096",
        "B200, blackwell, 10.0, 192265846784"
    })
    void eachModelHasItsFigures(String model, String family, String capability, long memory) {
        // When
        Gpu gpu = SimulatedDevices.parse("n", "simulated:1x" + model).gpus().getFirst();

        // Then
        assertThat(gpu.product().family()).isEqualTo(family);
        assertThat(gpu.product().computeCapability()).isEqualTo(capability);
        assertThat(gpu.memoryBytes()).isEqualTo(new Reading.Known<>(memory));
        assertThat(gpu.model()).contains(model);
    }

    @Test
    void linksLeadToSwitchesOrToPeersThatLinkBack() {
        // When
        List<Gpu> volta = SimulatedDevices.parse("n", "simulated:8xV100").gpus();
        Gpu hopper = SimulatedDevices.parse("n", "simulated:8xH100").gpus().getFirst();

        // Then
        assertThat(hopper.topology().links()).containsExactly(new Gpu.NvLinkPeer("", 18, true));
        for (Gpu gpu : volta) {
            assertThat(gpu.topology().links().stream()
                            .mapToInt(Gpu.NvLinkPeer::count)
                            .sum())
                    .isEqualTo(6);
            for (Gpu.NvLinkPeer link : gpu.topology().links()) {
                Gpu peer = volta.stream()
                        .filter(other -> other.pciBusId().equals(link.peerPciBusId()))
                        .findFirst()
                        .orElseThrow();
                assertThat(peer.topology().links()).contains(new Gpu.NvLinkPeer(gpu.pciBusId(), link.count(), false));
            }
        }
    }

    @Test
    void gpuMayBePartitioned() {
        // When
        List<Gpu> gpus = SimulatedDevices.parse(
                        "n", "simulated:2xA100:mig=1x3g.20gb+2x1g.5gb+me,1xA100,1xH100:mig=empty")
                .gpus();

        // Then
        assertThat(gpus).extracting(gpu -> gpu.mig().enabled().orElse(false)).containsExactly(true, true, false, true);
        assertThat(gpus.get(3).instances()).isEmpty();
        List<MigInstance> instances = gpus.getFirst().instances();
        assertThat(instances).extracting(MigInstance::profile).containsExactly("3g.20gb", "1g.5gb+me", "1g.5gb+me");
        assertThat(instances).extracting(MigInstance::index).containsExactly(0, 1, 2);
        assertThat(instances.getFirst().attributes().memoryBytes()).isEqualTo(20L << 30);
        assertThat(instances.getFirst().attributes().multiprocessors()).isEqualTo(42);
        // The capability nodes are those of /proc/driver/nvidia-caps/mig-minors
        assertThat(instances.getFirst().capabilityNodes())
                .containsExactly("/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13");
        assertThat(gpus.stream().flatMap(gpu -> gpu.instances().stream()))
                .extracting(MigInstance::uuid)
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "simulated:1xT4:mig=7x1g.5gb | requests MIG on T4, which has none",
                "simulated:1xA100:mig=7x1g.10gb+me | has \"7x1g.10gb+me\" where <count>x<profile> is expected",
                "simulated:1xA100:mig= | has \"\" where <count>x<profile> is expected, profiles of A100: 1g.5gb, 1g.5gb+me",
                "simulated:1xA100:mig=8x1g.5gb | divides a GPU into 8 compute and 8 memory slices, it has 7 and 8",
                "simulated:1xA100:mig=3x3g.20gb | divides a GPU into 9 compute and 12 memory slices, it has 7 and 8"
            })
    void impossibleLayoutIsRejected(String value, String why) {
        assertThatThrownBy(() -> SimulatedDevices.parse("n", value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_DEVICES=" + value + " " + why);
    }

    @Test
    void nodeMayHaveNoGpu() {
        assertThat(SimulatedDevices.parse("n", "simulated:0xH100").gpus()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "simulated",
                "simulated:",
                "simulated:8xZ9",
                "simulated:xH100",
                "simulated:8H100",
                "simulated:-1xH100",
                "simulated:8xH100,",
                "simulated:200xH100,57xT4",
                "simulated:1000xH100",
                "nvml"
            })
    void badValueIsRejectedWithOneLineThatNamesTheRemedy(String value) {
        assertThatThrownBy(() -> SimulatedDevices.parse("n", value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_DEVICES=" + value + " ")
                .hasMessageContaining("simulated:8xH100")
                .hasMessageNotContaining("\n");
    }
}
