package io.gpufleet.nodedaemon.nvml.reader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Short names and families of existing boards. */
class GpuModelNamesTest {
    @ParameterizedTest
    @CsvSource({
        "NVIDIA A100-SXM4-40GB, A100",
        "NVIDIA A100-SXM4-80GB, A100",
        "NVIDIA A100 80GB PCIe, A100",
        "A100-PCIE-40GB, A100",
        "NVIDIA A100X, A100X",
        "NVIDIA A800-SXM4-80GB, A800",
        "NVIDIA A10, A10",
        "NVIDIA A10G, A10G",
        "NVIDIA A16, A16",
        "NVIDIA A30, A30",
        "NVIDIA A40, A40",
        "NVIDIA H100 80GB HBM3, H100",
        "NVIDIA H100 PCIe, H100",
        "NVIDIA H100 NVL, H100",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb, H100",
        "NVIDIA H20, H20",
        "NVIDIA H200, H200",
        "NVIDIA H200 NVL, H200",
        "NVIDIA H800, H800",
        "NVIDIA GH200 480GB, GH200",
        "NVIDIA GH200 144G HBM3e, GH200",
        "NVIDIA B200, B200",
        "NVIDIA GB200, GB200",
        "NVIDIA B300 SXM6 AC, B300",
        "NVIDIA GB300, GB300",
        "NVIDIA L4, L4",
        "NVIDIA L40, L40",
        "NVIDIA L40S, L40S",
        "Tesla T4, T4",
        "Tesla V100-SXM2-16GB, V100",
        "Tesla V100-SXM3-32GB-H, V100-H",
        "Tesla V100S-PCIE-32GB, V100S",
        "Tesla P100-PCIE-16GB, P100",
        "Tesla P4, P4",
        "Tesla K80, K80",
        "Tesla M60, M60",
        "NVIDIA RTX A6000, RTX-A6000",
        "NVIDIA RTX 6000 Ada Generation, RTX-6000-Ada",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition, RTX-PRO-6000-Blackwell",
        "Quadro RTX 6000, RTX-6000",
        "Quadro RTX 8000, RTX-8000",
        "NVIDIA GeForce RTX 3090, RTX-3090",
        "NVIDIA GeForce RTX 3080 Ti, RTX-3080-Ti",
        "NVIDIA GeForce RTX 4090 Laptop GPU, RTX-4090-Laptop",
        "NVIDIA GeForce GTX 1080 Ti, GTX-1080-Ti",
        "NVIDIA TITAN V, TITAN-V",
        "NVIDIA T400 4GB, T400",
        "Orin (nvgpu), Orin",
        "NVIDIA GB10, GB10",
        "NVIDIA PG506-232, PG506-232",
        "GRID A100-10C, A100-10C",
        "NVIDIA Graphics Device, Graphics-Device"
    })
    void productHasOneShortName(String product, String shortName) {
        assertThat(GpuModelNames.shortName(product)).isEqualTo(shortName);
        assertThat(GpuModelNames.shortName(shortName)).isEqualTo(shortName);
        assertThat(shortName).matches("[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?");
    }

    @ParameterizedTest
    @CsvSource({"NVIDIA, NVIDIA", "NVIDIA GPU, NVIDIA-GPU", "'', ''", "'Ünïcode Bœrd', ncode-Brd"})
    void nameOfNoiseAloneIsKept(String product, String shortName) {
        assertThat(GpuModelNames.shortName(product)).isEqualTo(shortName);
    }

    @ParameterizedTest
    @CsvSource({
        "3, 7, kepler",
        "5, 2, maxwell",
        "6, 0, pascal",
        "7, 0, volta",
        "7, 5, turing",
        "8, 0, ampere",
        "8, 6, ampere",
        "8, 9, ada-lovelace",
        "9, 0, hopper",
        "10, 0, blackwell",
        "12, 0, blackwell",
        "13, 0, rubin",
        "4, 0, undefined",
        "99, 0, undefined"
    })
    void familyFollowsFromTheComputeCapability(int major, int minor, String family) {
        assertThat(GpuModelNames.family(major, minor)).isEqualTo(family);
    }
}
