package io.gpufleet.health.app;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.runtime.consistency.SimulatedActor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedTime;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.NullMarked;

/** Runs {@link NodeReconciler} for one node after the other, where {@link Reconciler} runs it on threads and timers. */
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

    SimulatedReconciler(SimulatedTime time, SimulatedApiServer.Client nodes, SignalSink signals, Clock clock) {
        this.time = time;
        this.nodes = nodes;
        this.step = new NodeReconciler(nodes, signals, lease, new ReconcileCounters(), clock, OVERRIDE_CONFIRMATION);
    }

    @Override
    public void begin(Lease held, States<NodeState> states) {
        verdicts.clear();
        states.forEach((node, state) -> verdicts.put(node, Verdict.of(state)));
        lease.begin(held::held);
        active = true;
        dirty.addAll(verdicts.keySet());
    }

    @Override
    public void changed(Map<String, NodeState> states, Set<String> forgotten) {
        states.forEach((node, state) -> {
            Verdict verdict = Verdict.of(state);
            if (!verdict.equals(verdicts.put(node, verdict))) {
                dirty.add(node);
            }
        });
        forgotten.forEach(verdicts::remove);
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
