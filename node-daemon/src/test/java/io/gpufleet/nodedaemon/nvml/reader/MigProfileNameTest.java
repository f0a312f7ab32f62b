package io.gpufleet.nodedaemon.nvml.reader;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.MigInstance.Attributes;
import io.gpufleet.nodedaemon.model.device.MigInstance.Engines;
import io.gpufleet.nodedaemon.model.device.MigInstance.Slices;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Profiles are named as NVIDIA's tools name them. */
class MigProfileNameTest {
    @ParameterizedTest
    @CsvSource({
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb, 1g.5gb",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb+me, 1g.10gb+me",
        "NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb, 1c.3g.40gb",
    })
    void nameEndsInTheProfile(String name, String profile) {
        assertThat(MigProfileName.profile(name, share(1, 1, 1), new Unavailable<>("NOT_SUPPORTED")))
                .isEqualTo(profile);
    }

    /** Memory as the boards report it, in MiB: of the instance, of the GPU. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 4864, 40536, 1g.5gb",
        "3, 3, 20096, 40536, 3g.20gb",
        "3, 1, 20096, 40536, 1c.3g.20gb",
        "7, 7, 40320, 40536, 7g.40gb",
        "1, 1, 9856, 81559, 1g.10gb",
        "1, 1, 5952, 24258, 1g.6gb",
        "1, 1, 11008, 95830, 1g.12gb",
    })
    void profileIsComputedWhereTheNameHasNone(
            int gpuSlices, int computeSlices, long memory, long whole, String profile) {
        assertThat(MigProfileName.profile(
                        "NVIDIA A100", share(gpuSlices, computeSlices, memory), new Known<>(whole << 20)))
                .isEqualTo(profile);
    }

    private static Attributes share(int gpuSlices, int computeSlices, long memoryMb) {
        return new Attributes(memoryMb << 20, 14, new Slices(gpuSlices, computeSlices), new Engines(1, 0, 0, 0, 0));
    }
}
