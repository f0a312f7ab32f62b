package io.gpufleet.cli.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.util.List;
import java.util.Map;

/**
 * Options of a local fleet.
 *
 * @param nodes simulated nodes, 0 to 200
 * @param gpus GPUs of each node, 1 to 16
 * @param model short model name as {@code GPUFLEET_DEVICES} takes it, for example {@code H100}
 * @param replicas replicas of each service, 1 to 5
 * @param kubeconfig kubeconfig of a cluster, absolute; empty: the fake API server
 * @param recoveryDwell time without a fault before a GPU is offered again, for example {@code 2s}
 */
public record FleetOptions(int nodes, int gpus, String model, int replicas, String kubeconfig, String recoveryDwell) {
    /** The models that the daemon simulates. */
    static final List<String> MODELS = List.of("V100", "T4", "A100", "L40S", "H100", "H200", "B200");

    private static final String DWELL = "GPUFLEET_RECOVERY_DWELL";

    /** Checks the bounds. */
    public FleetOptions {
        within("--nodes", nodes, 0, 200);
        within("--gpus", gpus, 1, 16);
        within("--replicas", replicas, 1, 5);
        if (!MODELS.contains(model)) {
            throw new ConfigurationException(
                    "--model '" + model + "' cannot be simulated: it takes " + String.join(", ", MODELS));
        }
        duration("--recovery-dwell", recoveryDwell);
    }

    /** True when the fake API server is used. */
    public boolean usesFakeApiServer() {
        return kubeconfig.isEmpty();
    }

    /** As the daemon reads its setting. */
    private static void duration(String option, String value) {
        try {
            Environment.read(Map.of(DWELL, value), List.of(Setting.optional(DWELL, "", option)))
                    .duration(DWELL);
        } catch (ConfigurationException wrong) {
            throw new ConfigurationException(String.valueOf(wrong.getMessage()).replace(DWELL, option));
        }
    }

    private static void within(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new ConfigurationException(option + " " + value + " is not usable: it takes " + min + " to " + max);
        }
    }
}
