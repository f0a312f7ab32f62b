package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DrillTest {
    private static final FleetState FLEET = new FleetState(
            "2026-03-01T10:00:00Z",
            10,
            null,
            "127.0.0.1:19092",
            new FleetState.KubernetesEndpoint("http://127.0.0.1:16443", "kubeconfig", true),
            List.of(
                    part("kafka", "KAFKA"),
                    part("kubernetes", "FAKE_API_SERVER"),
                    part("inventory-service-0", "INVENTORY"),
                    part("health-service-0", "HEALTH"),
                    part("allocation-service-0", "ALLOCATION"),
                    part("allocation-service-1", "ALLOCATION"),
                    part("node-1", "NODE_DAEMON"),
                    part("node-2", "NODE_DAEMON")),
            List.of(node("node-1"), node("node-2")));

    private static FleetState.FleetProcess part(String name, String program) {
        return new FleetState.FleetProcess(
                name, program, new ProcessIdentity(1, 1), "log", List.of(), Map.of(), Map.of());
    }

    private static FleetState.FleetNode node(String name) {
        return new FleetState.FleetNode(name, 4, "H100", "sockets", "faults", "metrics");
    }

    @Test
    void everyPartHasDrillsAndTheWebhookHasThemOnce() {
        assertThat(Drill.of(FLEET))
                .extracting(Drill::name)
                .containsExactly(
                        "broker-kill",
                        "broker-restart",
                        "broker-away",
                        "broker-away-at-start",
                        "broker-disk-full",
                        "no-leader-health",
                        "no-leader-verdicts",
                        "api-server-away",
                        "kill-inventory-service-0",
                        "freeze-inventory-service-0",
                        "slow-inventory-service-0",
                        "clock-jump-inventory-service-0",
                        "kill-health-service-0",
                        "freeze-health-service-0",
                        "slow-health-service-0",
                        "clock-jump-health-service-0",
                        "kill-allocation-service-0",
                        "freeze-allocation-service-0",
                        "slow-allocation-service-0",
                        "clock-jump-allocation-service-0",
                        "secret-deleted",
                        "certificate-expired",
                        "reviews",
                        "kill-allocation-service-1",
                        "freeze-allocation-service-1",
                        "slow-allocation-service-1",
                        "clock-jump-allocation-service-1",
                        "kill-node-1",
                        "disk-full-node-1",
                        "clock-jump-node-1");
    }

    @Test
    void drillsRunInTheirOwnOrder() {
        assertThat(Drill.named(FLEET, List.of("reviews", "broker-kill")))
                .extracting(Drill::name)
                .containsExactly("broker-kill", "reviews");
    }

    @Test
    void unknownNameIsAnsweredByAllNames() {
        assertThatThrownBy(() -> Drill.named(FLEET, List.of("meteor")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("'meteor' is no drill of this fleet; it has broker-kill, broker-restart");
    }
}
