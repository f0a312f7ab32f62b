package io.gpufleet.health;

import io.gpufleet.health.app.ReloadedFile;
import io.gpufleet.health.config.HealthConfig;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.config.PoolsFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import java.util.List;
import java.util.stream.Stream;

/** Files that are read again while the service runs. Without a shadow policy its place holds a pack that nobody asks. */
record HealthFiles(
        ReloadedFile<HealthMachine> policy,
        ReloadedFile<DisruptionBudgets> pools,
        ReloadedFile<HealthMachine> shadowPolicy) {
    private static final String SHADOW = "GPUFLEET_SHADOW_POLICY";

    /** Reads them; a file that cannot be read stops the start. */
    static HealthFiles of(HealthConfig config) {
        return new HealthFiles(
                policy("policy", "GPUFLEET_POLICY", config.policy(), config),
                new ReloadedFile<>(
                        "pools",
                        PoolsFile.text("GPUFLEET_POOLS", config.pools()),
                        text -> PoolsFile.of(config.mode(), config.pools(), text)),
                policy("shadow policy", SHADOW, shadowOrPack(config), config));
    }

    private static String shadowOrPack(HealthConfig config) {
        return config.shadowPolicy().isEmpty() ? "nvidia" : config.shadowPolicy();
    }

    private static ReloadedFile<HealthMachine> policy(
            String what, String setting, String nameOrPath, HealthConfig config) {
        return new ReloadedFile<>(
                what,
                PolicyFile.text(setting, nameOrPath),
                text -> new HealthMachine(PolicyFile.parse(nameOrPath, text), config.maxActionAge()));
    }

    boolean reload(HealthConfig config) {
        policy.reload(() -> PolicyFile.text(config.policy()));
        pools.reload(() -> PoolsFile.text("GPUFLEET_POOLS", config.pools()));
        shadowPolicy.reload(() -> PolicyFile.text(SHADOW, shadowOrPack(config)));
        return true;
    }

    List<String> problems() {
        return Stream.of(policy.problems(), pools.problems(), shadowPolicy.problems())
                .flatMap(List::stream)
                .toList();
    }
}
