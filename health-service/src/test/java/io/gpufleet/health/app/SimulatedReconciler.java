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
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.PendingKeys;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
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
 * on threads and timers; which node is next is decided by the keys that wait, as there.
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
    private final PendingKeys<String> pending =
            new PendingKeys<>(STEPS_AT_ONCE, new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30)), () -> 1);
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
        verdicts.keySet().forEach(pending::add);
        drainer.begin(committed.values());
        remediator.begin(committed.values());
        committed.keySet().forEach(this::request);
    }

    @Override
    public void changed(Map<String, NodeState> states, Set<String> forgotten) {
        states.forEach((node, state) -> {
            Verdict verdict = Verdict.of(state);
            if (!verdict.equals(verdicts.put(node, verdict))) {
                pending.add(node);
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
            nodes.watch(STEPS_AT_ONCE, pending::add);
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
        return pending.isIdle() && nodes.upToDate();
    }

    private void reconcile() {
        for (String node : pending.begin(time.nanos())) {
            Verdict verdict = verdicts.get(node);
            ReconcileResult result = active && verdict != null ? step.reconcile(verdict) : new ReconcileResult.Done();
            pending.end(node, result, time.nanos());
        }
    }
}
