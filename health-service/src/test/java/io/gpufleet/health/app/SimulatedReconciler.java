package io.gpufleet.health.app;

import io.gpufleet.health.app.drain.PodClient;
import io.gpufleet.health.app.drain.SimulatedDrainer;
import io.gpufleet.health.app.remediation.RemediationClient;
import io.gpufleet.health.app.remediation.SimulatedRemediator;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.runtime.consistency.SimulatedActor;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedTime;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.NullMarked;

/**
 * Runs {@link NodeReconciler}, drains and remediations for one node after the other, where {@link Reconciler} and the others do it
 * on threads and timers.
 */
@NullMarked
abstract class SimulatedReconciler implements SimulatedActor<NodeState> {
    private static final int STEPS_AT_ONCE = 32;
    private static final Duration OVERRIDE_CONFIRMATION = Duration.ofSeconds(10);

    private final SimulatedTime time;
    private final SimulatedApiServer.Client nodes;
    private final CurrentLease lease = new CurrentLease();
    private final NodeReconciler step;
    private final Map<String, Verdict> verdicts = new TreeMap<>();
    private final java.util.SequencedSet<String> dirty = new LinkedHashSet<>();
    private final Map<String, Long> requeued = new TreeMap<>();
    private final Map<String, Integer> failures = new HashMap<>();
    private boolean active;

    private final SimulatedDrainer drainer;
    private final SimulatedRemediator remediator;
    private final Map<String, NodeState> committed = new HashMap<>();
    private final Map<String, Long> drains = new TreeMap<>();
    private final Map<String, Long> remediations = new TreeMap<>();

    /** Clients of one process. */
    record Clients(SimulatedApiServer.Client nodes, PodClient pods, RemediationClient remediations) {}

    SimulatedReconciler(
            SimulatedTime time,
            Clients clients,
            SimulatedWriters.Observations signals,
            HealthPolicy policy,
            BrokerClock clock) {
        this.time = time;
        this.nodes = clients.nodes();
        Clock corrected = clock.corrected();
        this.step =
                new NodeReconciler(nodes, signals, lease, new ReconcileCounters(), corrected, OVERRIDE_CONFIRMATION);
        this.drainer = new SimulatedDrainer(clients.pods(), signals, policy.drain(), lease, corrected);
        this.remediator = new SimulatedRemediator(clients.remediations(), signals, policy, lease, corrected);
    }

    @Override
    public void begin(Lease held, States<NodeState> states) {
        verdicts.clear();
        committed.clear();
        drains.clear();
        remediations.clear();
        states.forEach((node, state) -> {
            verdicts.put(node, Verdict.of(state));
            committed.put(node, state);
        });
        lease.begin(held::held);
        active = true;
        dirty.addAll(verdicts.keySet());
        drainer.begin(committed.values());
        remediator.begin(committed.values());
        committed.keySet().forEach(this::request);
    }

    @Override
    public void changed(Map<String, NodeState> states, Set<String> forgotten) {
        states.forEach((node, state) -> {
            Verdict verdict = Verdict.of(state);
            if (!verdict.equals(verdicts.put(node, verdict))) {
                dirty.add(node);
            }
            committed.put(node, state);
            request(node);
        });
        forgotten.forEach(verdicts::remove);
    }

    /** At once, also where a step waits for its time. */
    private void request(String node) {
        NodeState state = Objects.requireNonNull(committed.get(node));
        if (drainer.committed(state)) {
            drains.put(node, time.nanos());
        } else {
            drains.remove(node);
        }
        remediator.committed(state);
        remediations.put(node, time.nanos());
    }

    @Override
    public void end() {
        active = false;
        lease.end();
    }

    @Override
    public void run() {
        while (true) {
            Lockstep.pause();
            nodes.watch(STEPS_AT_ONCE, dirty::add);
            requeue();
            reconcile();
            act(drains, drainer::run);
            act(remediations, remediator::run);
        }
    }

    private void act(Map<String, Long> due, Function<NodeState, Optional<Duration>> run) {
        List<String> now = due.entrySet().stream()
                .filter(next -> next.getValue() <= time.nanos())
                .limit(STEPS_AT_ONCE)
                .map(Map.Entry::getKey)
                .toList();
        for (String node : now) {
            due.remove(node);
            if (active) {
                run.apply(Objects.requireNonNull(committed.get(node)))
                        .ifPresent(after -> due.put(node, time.nanos() + after.toNanos()));
            }
        }
    }

    @Override
    public boolean idle() {
        return dirty.isEmpty() && requeued.isEmpty() && nodes.upToDate();
    }

    private void requeue() {
        for (Iterator<Map.Entry<String, Long>> all = requeued.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<String, Long> next = all.next();
            if (next.getValue() <= time.nanos()) {
                dirty.add(next.getKey());
                all.remove();
            }
        }
    }

    private void reconcile() {
        for (int i = 0; i < STEPS_AT_ONCE && !dirty.isEmpty(); i++) {
            String node = dirty.removeFirst();
            Verdict verdict = verdicts.get(node);
            if (active && verdict != null) {
                handle(node, step.reconcile(verdict, failures.getOrDefault(node, 0)));
            }
        }
    }

    private void handle(String node, NodeReconciler.ReconcileResult result) {
        switch (result) {
            case NodeReconciler.ReconcileResult.Reconciled() -> failures.remove(node);
            case NodeReconciler.ReconcileResult.RequeueAfter(Duration after) ->
                requeued.put(node, time.nanos() + after.toNanos());
            case NodeReconciler.ReconcileResult.RetryAfter(Duration after) -> {
                failures.merge(node, 1, Integer::sum);
                requeued.put(node, time.nanos() + after.toNanos());
            }
        }
    }
}
