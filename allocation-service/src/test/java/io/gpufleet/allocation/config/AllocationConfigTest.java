package io.gpufleet.allocation.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.tls.CertificateSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings: defaults, and messages of invalid ones. */
class AllocationConfigTest {
    private static AllocationConfig read(Map<String, String> more) {
        return AllocationConfig.from(Environment.read(more, AllocationConfig.SETTINGS));
    }

    @Test
    void defaults() {
        assertThat(read(Map.of()))
                .isEqualTo(new AllocationConfig(
                        new AllocationConfig.Servers("0.0.0.0", 8080, 9090, new CertificateSettings.None()),
                        new AllocationConfig.Webhook("0.0.0.0", 8443, "", "gpufleet-system", ""),
                        ReadsMode.KUBERNETES,
                        Set.of(
                                "nvidia.com/gpu",
                                "nvidia.com/gpu.shared",
                                "nvidia.com/mig-*",
                                "gpu.nvidia.com.deviceclass.resource.k8s.io/*",
                                "mig.nvidia.com.deviceclass.resource.k8s.io/*"),
                        Set.of(
                                "app.kubernetes.io/name",
                                "app.kubernetes.io/part-of",
                                "kueue.x-k8s.io/queue-name",
                                "team")));
    }

    @Test
    void labelsOfUsageAreFewAndKeysOfLabels() {
        assertThat(read(Map.of("GPUFLEET_USAGE_LABELS", "team, example.com/cost"))
                        .usageLabels())
                .containsExactly("example.com/cost", "team");
        assertThatThrownBy(() -> read(Map.of("GPUFLEET_USAGE_LABELS", "team=vision")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("for example team,app.kubernetes.io/name");
        assertThatThrownBy(() -> read(Map.of("GPUFLEET_USAGE_LABELS", "a,b,c,d,e,f,g,h,i")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("at most 8");
    }

    @Test
    void webhookUrlWithoutHttpsIsRejectedWithExample() {
        assertThatThrownBy(() -> read(Map.of("GPUFLEET_WEBHOOK_URL", "http://127.0.0.1:8443/admit")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("for example https://127.0.0.1:8443/admit");
    }

    @Test
    void clientCaIsAFileWithCertificates(@TempDir Path directory) throws IOException {
        Path empty = Files.writeString(directory.resolve("ca.pem"), "");
        for (String file :
                List.of(empty.toString(), directory.resolve("missing.pem").toString())) {
            assertThatThrownBy(() -> read(Map.of("GPUFLEET_WEBHOOK_CLIENT_CA", file)))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessage("GPUFLEET_WEBHOOK_CLIENT_CA='" + file
                            + "' is not usable: it takes a readable PEM file with certificates");
        }
    }
}
