package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.runtime.kubernetes.KubernetesClients;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Errors at the start, each as one line. */
class KubernetesClientsIT {
    @TempDir
    private Path dir;

    private static void open(Path kubeconfig) {
        KubernetesClients.connect(
                        Map.of("KUBECONFIG", kubeconfig.toString()),
                        "gpufleet-inventory",
                        "list, watch and patch nodes")
                .close();
    }

    @Test
    void missingKubeconfigIsNamed() {
        assertThatThrownBy(() -> open(dir.resolve("absent")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("absent can")
                .hasMessageContaining("be read");
    }

    @Test
    void fileThatIsNoKubeconfigIsNamed() throws Exception {
        Path file = Files.writeString(dir.resolve("kubeconfig"), "[1, 2");
        assertThatThrownBy(() -> open(file))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("kubeconfig (");
    }

    @Test
    void refusedCredentialsAreReportedWithTheNeededRights() throws Exception {
        try (var api = FakeApiServer.start("127.0.0.1", 0)) {
            Path file = api.kubeconfig(dir.resolve("kubeconfig"));
            Files.writeString(
                    file, Files.readString(file).replaceAll("\"token\"\\s*:\\s*\"[^\"]*\"", "\"token\":\"wrong\""));
            assertThatThrownBy(() -> open(file))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageContaining("refuses us with 401")
                    .hasMessageContaining("list, watch and patch nodes");
        }
    }
}
