package io.gpufleet.testbed.fakeapiserver.schedule;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.store.ObjectChange;
import io.gpufleet.testbed.fakeapiserver.store.ObjectStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Binds pending pods, one after the other, on every change of a Node or of a pod that waits or ends. Without preemption and
 * scoring.
 */
public final class Scheduler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);
    private static final GroupResource PODS = new GroupResource("", "pods");
    private static final GroupResource NODES = new GroupResource("", "nodes");

    /** The actions of the scheduler, which use the write path of the API. */
    public interface SchedulerClient {
        /** Sets the pod's node. */
        void bind(ObjectNode pod, String node);

        /** Writes the PodScheduled condition and a FailedScheduling event. */
        void reportUnschedulable(ObjectNode pod, String message);
    }

    private final ObjectStore store;
    private final SchedulerClient client;
    private final Semaphore changed = new Semaphore(1);
    private final List<Runnable> watches;
    private final Thread thread;

    private Scheduler(ObjectStore store, SchedulerClient hands) {
        this.store = store;
        this.client = hands;
        long now = store.revision();
        watches =
                List.of(store.watch(PODS, now, this::podChanged), store.watch(NODES, now, change -> changed.release()));
        thread = Thread.ofVirtual().name("scheduler").unstarted(this::run);
    }

    /** Starts scheduling. */
    public static Scheduler start(ObjectStore store, SchedulerClient hands) {
        Scheduler scheduler = new Scheduler(store, hands);
        scheduler.thread.start();
        return scheduler;
    }

    /** A pod that stays where it runs makes room for no other: a pass reads all pods, and most changes are of such. */
    private void podChanged(ObjectChange change) {
        if (change.kind() == ObjectChange.ChangeType.DELETED
                || isTerminated(change.object())
                || Json.text(change.object(), "spec", "nodeName").isEmpty()) {
            changed.release();
        }
    }

    private void run() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                changed.acquire();
                changed.drainPermits();
                try {
                    scheduleAll();
                } catch (RuntimeException failed) {
                    // The next change retries; one malformed object must not stop scheduling.
                    LOG.atWarn().addKeyValue("error", failed).log("a scheduling pass failed");
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    private void scheduleAll() {
        List<ObjectNode> pods = store.list(PODS, "").objects();
        Map<String, List<JsonNode>> placed = new HashMap<>();
        List<ObjectNode> pending = new ArrayList<>();
        for (ObjectNode pod : pods) {
            String node = Json.text(pod, "spec", "nodeName");
            if (!node.isEmpty()) {
                if (!isTerminated(pod)) {
                    placed.computeIfAbsent(node, name -> new ArrayList<>()).add(pod);
                }
            } else if (isSchedulable(pod)) {
                pending.add(pod);
            }
        }
        if (pending.isEmpty()) {
            return;
        }
        pending.sort(Comparator.comparing(
                        (ObjectNode pod) -> -pod.path("spec").path("priority").asInt(0))
                .thenComparing(pod -> Json.text(pod, "metadata", "creationTimestamp"))
                .thenComparing(Json::name));
        List<ObjectNode> nodes = store.list(NODES, "").objects();
        pending.forEach(pod -> scheduleOne(pod, nodes, placed));
    }

    private void scheduleOne(ObjectNode pod, List<ObjectNode> nodes, Map<String, List<JsonNode>> placed) {
        Map<String, Integer> reasons = new TreeMap<>();
        Map<String, Integer> preemption = new TreeMap<>();
        Optional<String> best = Optional.empty();
        for (ObjectNode node : nodes) {
            String name = Json.name(node);
            List<JsonNode> there = placed.getOrDefault(name, List.of());
            List<String> against = NodeFit.unschedulableReasons(pod, node, there);
            against.forEach(reason -> reasons.merge(reason, 1, Integer::sum));
            preemption.merge(
                    against.stream().allMatch(NodeFit::isResolvableByPreemption)
                            ? "No preemption victims found for incoming pod"
                            : "Preemption is not helpful for scheduling",
                    1,
                    Integer::sum);
            boolean emptier = best.map(other ->
                            there.size() < placed.getOrDefault(other, List.of()).size())
                    .orElse(true);
            if (against.isEmpty() && emptier) {
                best = Optional.of(name);
            }
        }
        if (best.isPresent()) {
            client.bind(pod, best.get());
            placed.computeIfAbsent(best.get(), name -> new ArrayList<>()).add(pod);
        } else {
            client.reportUnschedulable(pod, message(nodes.size(), reasons, preemption));
        }
    }

    /** The message of kube-scheduler 1.34, including preemption, though this scheduler does not preempt. */
    private static String message(int nodes, Map<String, Integer> reasons, Map<String, Integer> preemption) {
        if (nodes == 0) {
            return "no nodes available to schedule pods";
        }
        String opening = "0/" + nodes + " nodes are available: ";
        return opening + histogram(reasons) + ". no new claims to deallocate, preemption: " + opening
                + histogram(preemption) + ".";
    }

    private static String histogram(Map<String, Integer> reasons) {
        return reasons.entrySet().stream()
                .map(reason -> reason.getValue() + " " + reason.getKey())
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static boolean isTerminated(JsonNode pod) {
        String phase = Json.text(pod, "status", "phase");
        return phase.equals("Succeeded") || phase.equals("Failed");
    }

    private static boolean isSchedulable(JsonNode pod) {
        return Json.text(pod, "spec", "schedulerName").equals("default-scheduler")
                && pod.path("spec").path("schedulingGates").isEmpty()
                && Json.at(pod, "metadata", "deletionTimestamp").isMissingNode()
                && !isTerminated(pod);
    }

    /** The pod with its PodScheduled condition set; empty when it has it already. */
    public static Optional<ObjectNode> withScheduledCondition(
            ObjectNode pod, String status, String reason, String message, String now) {
        ObjectNode copy = pod.deepCopy();
        ObjectNode podStatus = Json.withObject(copy, "status");
        ArrayNode conditions =
                podStatus.get("conditions") instanceof ArrayNode list ? list : podStatus.putArray("conditions");
        Function<JsonNode, Boolean> same =
                condition -> Json.text(condition, "status").equals(status)
                        && Json.text(condition, "message").equals(message);
        for (int i = 0; i < conditions.size(); i++) {
            if (Json.text(conditions.get(i), "type").equals("PodScheduled")) {
                if (same.apply(conditions.get(i))) {
                    return Optional.empty();
                }
                conditions.remove(i);
            }
        }
        ObjectNode condition =
                conditions.addObject().put("type", "PodScheduled").put("status", status);
        condition.putNull("lastProbeTime").put("lastTransitionTime", now);
        if (!reason.isEmpty()) {
            condition.put("reason", reason).put("message", message);
        }
        return Optional.of(copy);
    }

    @Override
    public void close() {
        watches.forEach(Runnable::run);
        thread.interrupt();
    }
}
