package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class FleetPlanTest {
    private static final StateDirectory STATE = new StateDirectory(Path.of("/s"));

    private final List<String> messages = new ArrayList<>();

    @Test
    void everyProcessIsPlannedOnce() {
        // When
        FleetPlan plan = plan(new FleetOptions(3, 8, "H100", 1, "", "2s"), Set.of());
        // Then
        assertThat(plan.processes())
                .extracting(PlannedProcess::name)
                .containsExactly(
                        "kubernetes",
                        "kubelets",
                        "inventory-service-0",
                        "health-service-0",
                        "allocation-service-0",
                        "node-1",
                        "node-2",
                        "node-3");
        assertThat(messages).isEmpty();
    }

    @Test
    void everyPortIsAllocatedOnce() {
        // When
        FleetPlan plan = plan(new FleetOptions(5, 8, "H100", 3, "", "2s"), Set.of(18081, 19092));
        // Then
        var ports = new ArrayList<Integer>(List.of(plan.kafkaPort()));
        plan.processes().forEach(process -> ports.addAll(process.ports().values()));
        assertThat(new HashSet<>(ports)).hasSameSizeAs(ports).doesNotContain(18081, 19092);
    }

    @Test
    void portInUseIsReportedWithItsReplacement() {
        // When
        FleetPlan plan = plan(new FleetOptions(1, 8, "H100", 1, "", "2s"), Set.of(19092));
        // Then
        assertThat(messages).containsExactly("port 19092 is in use: kafka uses 20000");
        assertThat(plan.bootstrap()).isEqualTo("127.0.0.1:20000");
    }

    @Test
    void daemonAndKubeletShareOneDirectory() {
        // When
        FleetPlan plan = plan(new FleetOptions(1, 4, "A100", 1, "", "2s"), Set.of());
        // Then
        PlannedProcess daemon = plan.of(Program.NODE_DAEMON).getFirst();
        assertThat(plan.of(Program.FAKE_KUBELETS).getFirst().environment())
                .containsEntry("GPUFLEET_FAKE_KUBELETS", "node-1=/s/sockets/node-1");
        assertThat(daemon.environment())
                .containsEntry("GPUFLEET_DEVICE_PLUGIN_DIR", "/s/sockets/node-1/device-plugins")
                .containsEntry("GPUFLEET_DEVICES", "simulated:4xA100")
                .containsEntry("GPUFLEET_RECOVERY_DWELL", "2s");
    }

    @Test
    void realClusterNeedsNoFakeApiServer() {
        // When
        FleetPlan plan = plan(new FleetOptions(1, 8, "H100", 1, "/k", "2s"), Set.of());
        // Then
        assertThat(plan.of(Program.FAKE_API_SERVER)).isEmpty();
    }

    @Test
    void sizesOutOfBoundsAreRefusedByName() {
        assertThatThrownBy(() -> new FleetOptions(201, 8, "H100", 1, "", "2s"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("--nodes 201 is not usable: it takes 0 to 200");
        assertThatThrownBy(() -> new FleetOptions(1, 0, "H100", 1, "", "2s")).hasMessageContaining("--gpus 0");
        assertThatThrownBy(() -> new FleetOptions(1, 1, "H 100", 1, "", "2s")).hasMessageContaining("--model");
        assertThatThrownBy(() -> new FleetOptions(1, 1, "H100", 9, "", "2s")).hasMessageContaining("--replicas 9");
    }

    private FleetPlan plan(FleetOptions options, Set<Integer> taken) {
        return FleetPlan.of(
                options,
                STATE,
                "/s/kubeconfig",
                "127.0.0.1",
                new PortAllocator(port -> !taken.contains(port), messages::add));
    }

    @Test
    void modelsAreThoseThatTheDaemonSimulates() throws IOException {
        String source = Files.readString(Repository.module("node-daemon")
                .resolve("src/main/java/io/gpufleet/nodedaemon/simulated/SimulatedModel.java"));

        assertThat(Pattern.compile("^    ([A-Z0-9]+)\\(\"", Pattern.MULTILINE)
                        .matcher(source)
                        .results()
                        .map(constant -> constant.group(1)))
                .containsExactlyElementsOf(FleetOptions.MODELS);
        assertThatThrownBy(() -> new FleetOptions(1, 1, "FOO", 1, "", "2s"))
                .hasMessage("--model 'FOO' cannot be simulated: it takes V100, T4, A100, L40S, H100, H200, B200");
    }
}
