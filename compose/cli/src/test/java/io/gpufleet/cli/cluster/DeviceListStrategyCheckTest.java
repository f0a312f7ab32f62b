package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.cluster.Finding.Level;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceListStrategyCheckTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        containerd://2.2.8+unknown | cdi-cri        | OK
        containerd://1.7.27        | cdi-cri        | FAIL
        containerd://1.7.27        | host-mounts    | OK
        containerd://1.7.27        | envvar         | WARN
        cri-o://1.34.1             | cdi-cri        | OK
        cri-o://1.22.0             | cdi-cri        | FAIL
        docker://28.2.2            | envvar         | WARN
        docker://28.2.2            | cdi-cri,envvar | FAIL
        containerd://2.0.0         | envvar,cdi-cri | OK
        """)
    void strategyFitsTheRuntime(String runtime, String strategies, Level level) {
        Finding finding = DeviceListStrategyCheck.check(runtime, strategies, 3);

        assertThat(finding.level()).as(finding.text()).isEqualTo(level);
        assertThat(finding.remedy().isEmpty()).isEqualTo(level == Level.OK);
    }
}
