package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Requests and status of a pod on a fake kubelet. */
final class SimulatedPod {
    /** Run time of the pod's containers until they exit with 0, for example {@code 3s}; absent: no limit. */
    static final String RUN_FOR = "gpufleet.io/run-for";

    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

    private SimulatedPod() {}

    /**
     * The request of one container for one resource.
     *
     * @param container its name
     * @param resource extended resource name
     * @param count number of devices, at least 1
     */
    record DeviceRequest(String container, String resource, int count) {}

    /** The extended resources that the pod's containers request, init containers first, as the kubelet admits them. */
    static List<DeviceRequest> deviceRequests(Pod pod) {
        var demands = new ArrayList<DeviceRequest>();
        var containers = new ArrayList<Container>(pod.getSpec().getInitContainers());
        containers.addAll(pod.getSpec().getContainers());
        for (Container container : containers) {
            if (container.getResources() == null) {
                continue;
            }
            Map<String, Quantity> limits =
                    new TreeMap<>(container.getResources().getLimits());
            limits.forEach((resource, quantity) -> {
                int count = quantity.getNumericalAmount().intValue();
                if (ExtendedResourceNames.isValid(resource) && count > 0) {
                    demands.add(new DeviceRequest(container.getName(), resource, count));
                }
            });
        }
        return demands;
    }

    /** Run time of the pod; empty without a readable annotation: no limit. */
    static Optional<Duration> runFor(Pod pod) {
        Map<String, String> annotations = pod.getMetadata().getAnnotations();
        Matcher matcher = DURATION.matcher(annotations == null ? "" : annotations.getOrDefault(RUN_FOR, ""));
        if (!matcher.matches()) {
            return Optional.empty();
        }
        long amount = Long.parseLong(matcher.group(1));
        return Optional.of(
                switch (matcher.group(2)) {
                    case "ms" -> Duration.ofMillis(amount);
                    case "s" -> Duration.ofSeconds(amount);
                    case "m" -> Duration.ofMinutes(amount);
                    default -> Duration.ofHours(amount);
                });
    }

    /** Status of an admitted, running pod. */
    static PodStatus running(Pod pod, Instant now) {
        String timestamp = SimulatedNode.timestamp(now);
        return new PodStatusBuilder(old(pod))
                .withPhase("Running")
                .withStartTime(timestamp)
                .withHostIP("127.0.0.1")
                .withPodIP("127.0.0.1")
                .withConditions(conditions(pod, true, "", timestamp))
                .withContainerStatuses(containers(
                        pod,
                        (container, status) -> status.withReady(true)
                                .withStarted(true)
                                .withNewState()
                                .withNewRunning(timestamp)
                                .endState()
                                .build()))
                .build();
    }

    /** Status of an ended pod: Succeeded with exit code 0, else Failed. */
    static PodStatus terminated(Pod pod, int exitCode, Instant now) {
        String timestamp = SimulatedNode.timestamp(now);
        String started = Optional.ofNullable(old(pod).getStartTime()).orElse(timestamp);
        return new PodStatusBuilder(old(pod))
                .withPhase(exitCode == 0 ? "Succeeded" : "Failed")
                .withConditions(conditions(pod, false, exitCode == 0 ? "PodCompleted" : "PodFailed", timestamp))
                .withContainerStatuses(containers(
                        pod,
                        (container, status) -> status.withReady(false)
                                .withStarted(false)
                                .withNewState()
                                .withNewTerminated()
                                .withExitCode(exitCode)
                                .withReason(exitCode == 0 ? "Completed" : "Error")
                                .withStartedAt(started)
                                .withFinishedAt(timestamp)
                                .endTerminated()
                                .endState()
                                .build()))
                .build();
    }

    /** Status of a pod that was not admitted. */
    static PodStatus rejected(Pod pod, String message, Instant now) {
        return new PodStatusBuilder(old(pod))
                .withPhase("Failed")
                .withReason("UnexpectedAdmissionError")
                .withMessage("Pod was rejected: " + message)
                .withStartTime(SimulatedNode.timestamp(now))
                .build();
    }

    private static PodStatus old(Pod pod) {
        return pod.getStatus() == null ? new PodStatus() : pod.getStatus();
    }

    @FunctionalInterface
    private interface ContainerStatusFactory {
        ContainerStatus fill(Container container, ContainerStatusBuilder status);
    }

    private static List<ContainerStatus> containers(Pod pod, ContainerStatusFactory filler) {
        return pod.getSpec().getContainers().stream()
                .map(container -> filler.fill(
                        container,
                        new ContainerStatusBuilder()
                                .withName(container.getName())
                                .withImage(Optional.ofNullable(container.getImage())
                                        .orElse(""))
                                .withImageID("")
                                .withContainerID(
                                        "simulated://" + pod.getMetadata().getUid() + "-" + container.getName())
                                .withRestartCount(0)))
                .toList();
    }

    private static List<PodCondition> conditions(Pod pod, boolean ready, String reason, String timestamp) {
        var conditions = new ArrayList<PodCondition>();
        for (PodCondition condition : old(pod).getConditions()) {
            if (!List.of("Initialized", "ContainersReady", "Ready").contains(condition.getType())) {
                conditions.add(condition);
            }
        }
        conditions.add(condition("Initialized", true, reason.equals("PodCompleted") ? reason : null, timestamp));
        conditions.add(condition("ContainersReady", ready, reason.isEmpty() ? null : reason, timestamp));
        conditions.add(condition("Ready", ready, reason.isEmpty() ? null : reason, timestamp));
        return conditions;
    }

    private static PodCondition condition(String type, boolean status, @Nullable String reason, String timestamp) {
        var condition = new PodConditionBuilder()
                .withType(type)
                .withStatus(status ? "True" : "False")
                .withLastTransitionTime(timestamp);
        return reason == null ? condition.build() : condition.withReason(reason).build();
    }
}
