package io.gpufleet.inventory.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.inventory.app.LabelMode;
import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.taint.NodeTaint;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.tls.CertificateSettings;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Defaults, values and errors of the configuration. */
class InventoryConfigTest {
    private static InventoryConfig config(Map<String, String> more) {
        return InventoryConfig.from(Environment.read(more, InventoryConfig.SETTINGS));
    }

    @Test
    void defaultsEnableEveryLabel() {
        InventoryConfig config = config(Map.of());
        assertThat(config.labels()).containsExactlyInAnyOrder(LabelGroup.values());
        assertThat(config.listen())
                .isEqualTo(new InventoryConfig.Listen("0.0.0.0", 8080, 9090, new CertificateSettings.None()));
    }

    @Test
    void labelGroupsAreEnabledOneByOne() {
        assertThat(config(Map.of("GPUFLEET_LABELS", "gfd, gpu-type")).labels())
                .containsExactlyInAnyOrder(LabelGroup.GFD, LabelGroup.GPU_TYPE);
        assertThat(config(Map.of("GPUFLEET_LABELS", "none")).labels()).isEmpty();
    }

    @Test
    void nodesAreNotTaintedUnlessTaintsAreConfigured() {
        assertThat(config(Map.of()).taints()).isEmpty();
        assertThat(config(Map.of("GPUFLEET_NODE_TAINT", "nvidia.com/gpu=present:NoSchedule, example.com/gpu:NoExecute"))
                        .taints())
                .containsExactlyInAnyOrder(
                        new NodeTaint("nvidia.com/gpu", "present", "NoSchedule"),
                        new NodeTaint("example.com/gpu", "", "NoExecute"));
    }

    @Test
    void labelsAreWrittenUnlessTheModeIsObserve() {
        assertThat(config(Map.of()).labelMode()).isEqualTo(LabelMode.WRITE);
        assertThat(config(Map.of("GPUFLEET_LABELS_MODE", "write")).labelMode()).isEqualTo(LabelMode.WRITE);
        assertThat(config(Map.of("GPUFLEET_LABELS_MODE", "observe")).labelMode())
                .isEqualTo(LabelMode.OBSERVE);
    }

    @Test
    void readsAreOpenToTheSameMachineOnly() {
        assertThat(config(Map.of()).reads()).isEqualTo(ReadsMode.KUBERNETES);
        for (String host : List.of("127.0.0.1", "127.1.2.3", "::1", "localhost")) {
            assertThat(config(Map.of("GPUFLEET_HTTP_HOST", host)).reads()).isEqualTo(ReadsMode.OFF);
            assertThat(config(Map.of("GPUFLEET_HTTP_HOST", host, "GPUFLEET_READS", "kubernetes"))
                            .reads())
                    .isEqualTo(ReadsMode.KUBERNETES);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GPUFLEET_LABELS | gfd,tpu | none, or some of gfd,",
                "GPUFLEET_READS | off | kubernetes, since GPUFLEET_HTTP_HOST is no loopback address",
                "GPUFLEET_READS | open | kubernetes, off or auto",
                "GPUFLEET_NODE_TAINT | nvidia.com/gpu | none, or key=value:NoSchedule",
                "GPUFLEET_NODE_TAINT | gpu=a:NoSchedule,gpu=b:NoSchedule | each key and effect once",
                "GPUFLEET_NODE_TAINT | gpufleet.io/unhealthy=a:NoExecute | gpufleet.io excepted",
                "GPUFLEET_NODE_TAINT | node.kubernetes.io/gpu:NoExecute | keys of Kubernetes",
                "GPUFLEET_LABELS_MODE | dry-run | observe or write",
                "GPUFLEET_HTTP_PORT | 80800 | a whole number from 0 to 65535",
                "GPUFLEET_GRPC_PROT | 1 | did you mean GPUFLEET_GRPC_PORT?",
            })
    void invalidValueIsAnErrorWithTheValidOnes(String name, String value, String valid) {
        assertThatThrownBy(() -> config(Map.of(name, value)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(name + "=")
                .hasMessageContaining(value)
                .hasMessageContaining(valid);
    }
}
