package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.NodeLabels;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A Kubernetes Event about a Node.
 *
 * @param warning whether somebody should look at it
 * @param reason one word in CamelCase
 * @param message one line for people
 */
public record KubernetesNodeEvent(boolean warning, String reason, String message) {
    /** Another state of the driver installer; a changed detail of the same state is none. */
    static Optional<KubernetesNodeEvent> ofInstaller(NodeObject before, NodeObject after) {
        String state = after.labels().getOrDefault(NodeLabels.INSTALLER, "");
        if (state.isEmpty() || state.equals(before.labels().get(NodeLabels.INSTALLER))) {
            return Optional.empty();
        }
        String details = after.owned().annotations().getOrDefault(NodeLabels.INSTALLER, state);
        return Optional.of(new KubernetesNodeEvent(state.equals("failed"), "Driver" + camelCase(state), details));
    }

    private static String camelCase(String state) {
        return Arrays.stream(state.split("[^A-Za-z0-9]+"))
                .filter(word -> !word.isEmpty())
                .map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
                .collect(Collectors.joining());
    }
}
