package io.gpufleet.health.app;

import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One reconcile of one Node: reads, plans and patches. Never called concurrently for one node. */
public final class NodeReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(NodeReconciler.class);
    private static final int ATTEMPTS = 5;
    private static final Duration REJECTED_RETRY = Duration.ofSeconds(30);
    private static final Duration LEASE_RETRY = Duration.ofSeconds(1);
    private static final Duration FREEZE_RETRY = Duration.ofSeconds(5);

    private final NodeClient nodes;
    private final SignalSink signals;
    private final ReconcileCounters counters;
    private final OverrideDetector overrides;
    private final Supplier<Set<String>> labelKeys;
    private final Map<String, ObservedNode.NodeFacts> reportedFacts = new ConcurrentHashMap<>();
    private final Map<String, NodeOutcome> outcomes = new ConcurrentHashMap<>();
    private Supplier<Optional<String>> freeze = Optional::empty;

    /**
     * Settings of a step.
     *
     * @param confirmAfter an applied taint missing in two reads this far apart was removed manually
     * @param labelKeys labels of Nodes that are reported with them
     */
    public record Settings(Duration confirmAfter, Supplier<Set<String>> labelKeys) {}

    /** Step that reports no labels. */
    NodeReconciler(
            NodeClient nodes,
            SignalSink signals,
            CurrentLease lease,
            ReconcileCounters counters,
            Clock clock,
            Duration confirmAfter) {
        this(nodes, signals, lease, counters, clock, new Settings(confirmAfter, Set::of));
    }

    /**
     * Step over one cluster.
     *
     * @param lease asked immediately before each call that changes something
     */
    public NodeReconciler(
            NodeClient nodes,
            SignalSink signals,
            CurrentLease lease,
            ReconcileCounters counters,
            Clock clock,
            Settings settings) {
        this.labelKeys = settings.labelKeys();
        this.nodes = new LeasedNodeClient(nodes, lease);
        this.signals = new LeasedSignalSink(signals, lease);
        this.counters = counters;
        this.overrides = new OverrideDetector(this.nodes, this.signals, clock, settings.confirmAfter());
    }

    /** Names what holds every patch back; before the first step. */
    public NodeReconciler pausedBy(Supplier<Optional<String>> reason) {
        freeze = reason;
        return this;
    }

    /** Prepares for the first patch. */
    void warmUp() {
        nodes.warmUp();
    }

    /** Outcome of the last reconcile, one line for people. */
    String outcome(String node) {
        return lastOutcome(node).text();
    }

    /** Removes what is kept for a node. */
    void forget(String node) {
        outcomes.remove(node);
        reportedFacts.remove(node);
        overrides.forget(node);
    }

    private NodeOutcome lastOutcome(String node) {
        return outcomes.getOrDefault(node, new NodeOutcome.NotReconciled());
    }

    /** Brings the Node to the state that the verdict asks for. */
    ReconcileResult reconcile(Verdict verdict) {
        String node = verdict.node().name();
        Optional<ObservedNode> observed = nodes.cached(node);
        if (observed.isEmpty()) {
            // The informer reports the Node when it appears, or once Nodes can be watched.
            boolean absent = nodes.hasSynced();
            outcomes.put(node, absent ? new NodeOutcome.NoSuchNode() : new NodeOutcome.NotWatched());
            if (absent) {
                reportDeletion(verdict);
            }
            return new ReconcileResult.Done();
        }
        reportNode(verdict, observed.get());
        Optional<String> frozen = freeze.get();
        if (frozen.isPresent()
                && !(NodePatchPlan.of(observed.get(), DesiredNode.of(verdict)) instanceof NodePatchPlan.UpToDate)) {
            outcomes.put(node, new NodeOutcome.Frozen(frozen.get()));
            return new ReconcileResult.RequeueAfter(FREEZE_RETRY);
        }
        return patch(observed.get(), DesiredNode.of(verdict));
    }

    private ReconcileResult patch(ObservedNode cached, DesiredNode desired) {
        ObservedNode observed = cached;
        boolean fromServer = false;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            NodePatchPlan plan = NodePatchPlan.of(observed, desired);
            if (plan instanceof NodePatchPlan.AppliedMissing missing) {
                return detectOverride(observed, desired, missing, fromServer);
            }
            overrides.notMissing(observed.name());
            if (!(plan instanceof NodePatchPlan.Patch patch)) {
                return skip(observed, plan);
            }
            NodeResponse response = apply(observed, patch, desired);
            if (!(response instanceof NodeResponse.Conflict || response instanceof NodeResponse.Mismatch)) {
                return handleResponse(observed, desired, patch, response);
            }
            counters.conflicts.increment();
            Optional<ObservedNode> newer = newerCached(observed);
            fromServer = newer.isEmpty();
            NodeResponse current =
                    newer.<NodeResponse>map(NodeResponse.Succeeded::new).orElseGet(() -> nodes.read(cached.name()));
            if (!(current instanceof NodeResponse.Succeeded(ObservedNode next))) {
                return handleResponse(observed, desired, patch, current);
            }
            if (response instanceof NodeResponse.Mismatch(String reason) && next.sameFields(observed)) {
                return handleResponse(observed, desired, patch, new NodeResponse.Rejected(reason));
            }
            observed = next;
        }
        outcomes.put(cached.name(), new NodeOutcome.ConflictsExceeded());
        return ReconcileResult.RetryAfter.backoff();
    }

    /** The informer mostly has the conflicting change when the conflict is reported; that saves a read. */
    private Optional<ObservedNode> newerCached(ObservedNode observed) {
        return nodes.cached(observed.name()).filter(node -> !node.sameFields(observed));
    }

    private NodeResponse apply(ObservedNode observed, NodePatchPlan.Patch patch, DesiredNode desired) {
        ObservedNode current = observed;
        if (patch.nodeDiffers()) {
            NodeResponse response = nodes.patchNode(observed, patch);
            if (!(response instanceof NodeResponse.Succeeded(ObservedNode patched))) {
                return response;
            }
            counters.patches.increment();
            current = patched;
            LOG.atInfo()
                    .addKeyValue("node", observed.name())
                    .addKeyValue("revision", desired.revision())
                    .addKeyValue("taint", patch.applied().taint())
                    .addKeyValue("label", patch.applied().label())
                    .log(patch.applied().taint().isEmpty() ? "node patched" : "taint applied");
        }
        return patch.conditionDiffers()
                ? applyCondition(current, desired.condition())
                : new NodeResponse.Succeeded(current);
    }

    private NodeResponse applyCondition(ObservedNode node, ObservedNode.Condition condition) {
        NodeResponse response = nodes.patchCondition(node, condition);
        if (response instanceof NodeResponse.Succeeded) {
            counters.conditions.increment();
            boolean problem = !condition.status().equals("False");
            nodes.recordEvent(node, problem, condition.reason(), condition.message());
        }
        return response;
    }

    private ReconcileResult handleResponse(
            ObservedNode observed, DesiredNode desired, NodePatchPlan.Patch patch, NodeResponse response) {
        return switch (response) {
            case NodeResponse.Succeeded(ObservedNode now) -> {
                reportPatch(now, desired, "");
                reportForeign(now.name(), patch.foreign());
                yield new ReconcileResult.Done();
            }
            case NodeResponse.NotFound() -> {
                outcomes.put(observed.name(), new NodeOutcome.NoSuchNode());
                yield new ReconcileResult.Done();
            }
            case NodeResponse.Rejected(String reason) -> {
                failed(observed, "rejected: " + reason);
                reportPatch(observed, desired, reason);
                yield new ReconcileResult.RetryAfter(REJECTED_RETRY);
            }
            case NodeResponse.Unavailable(String reason, Duration retryAfter) -> {
                failed(observed, "no answer: " + reason);
                yield new ReconcileResult.RetryAfter(retryAfter);
            }
            case NodeResponse.LeaseEnded() -> {
                outcomes.put(observed.name(), new NodeOutcome.LeaseEnded());
                yield new ReconcileResult.RequeueAfter(LEASE_RETRY);
            }
            case NodeResponse.Conflict _, NodeResponse.Mismatch _ -> ReconcileResult.RetryAfter.backoff();
        };
    }

    private void failed(ObservedNode observed, String reason) {
        counters.failures.increment();
        if (changed(observed.name(), new NodeOutcome.Failed(reason))) {
            LOG.atWarn()
                    .addKeyValue("node", observed.name())
                    .addKeyValue("reason", reason)
                    .log("node not patched, retrying");
        }
    }

    private void reportPatch(ObservedNode observed, DesiredNode desired, String error) {
        signals.nodePatched(
                observed.name(),
                new SignalSink.PatchOutcome(observed.uid(), desired.revision(), "node", error.isEmpty(), error));
    }

    private void reportForeign(String node, List<String> foreign) {
        NodeOutcome outcome = foreign.isEmpty() ? new NodeOutcome.AsDesired() : new NodeOutcome.Foreign(foreign);
        if (changed(node, outcome) && !foreign.isEmpty()) {
            counters.foreign.increment();
            LOG.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("foreign", foreign)
                    .log("foreign taint, label or annotation in place of ours is left alone");
        }
    }

    private ReconcileResult skip(ObservedNode observed, NodePatchPlan plan) {
        NodeOutcome outcome = switch (plan) {
            case NodePatchPlan.OptedOut() -> new NodeOutcome.OptedOut();
            case NodePatchPlan.UidMismatch(String uid) -> new NodeOutcome.UidMismatch(uid);
            case NodePatchPlan.NewerRevision(long revision) -> new NodeOutcome.NewerRevision(revision);
            case NodePatchPlan.UpToDate _, NodePatchPlan.AppliedMissing _, NodePatchPlan.Patch _ ->
                lastOutcome(observed.name()) instanceof NodeOutcome.Foreign foreign
                        ? foreign
                        : new NodeOutcome.AsDesired();
        };
        if (changed(observed.name(), outcome) && plan instanceof NodePatchPlan.NewerRevision) {
            LOG.atWarn()
                    .addKeyValue("node", observed.name())
                    .addKeyValue("reason", outcome.text())
                    .log("node not patched");
        }
        return new ReconcileResult.Done();
    }

    private ReconcileResult detectOverride(
            ObservedNode observed, DesiredNode desired, NodePatchPlan.AppliedMissing missing, boolean fromServer) {
        OverrideDetector.Detection detection = overrides.missing(observed, missing, fromServer);
        if (detection.repair().isPresent()
                && NodePatchPlan.repair(detection.repair().get().node(), desired)
                        instanceof NodePatchPlan.Patch patch) {
            ObservedNode now = detection.repair().get().node();
            counters.foreign.increment();
            LOG.atWarn()
                    .addKeyValue("node", now.name())
                    .addKeyValue("manager", detection.repair().get().remover())
                    .log("taint removed by a controller is applied again");
            return handleResponse(now, desired, patch, apply(now, patch, desired));
        }
        detection.outcome().ifPresent(outcome -> {
            if (changed(observed.name(), outcome) && outcome instanceof NodeOutcome.RemovedByController) {
                LOG.atWarn()
                        .addKeyValue("node", observed.name())
                        .addKeyValue("reason", outcome.text())
                        .log("taint not applied again");
                nodes.recordEvent(observed, true, "TaintRemovedByController", outcome.text());
            }
        });
        return new ReconcileResult.RequeueAfter(detection.requeueAfter());
    }

    /** Keeps the outcome; true when it differs from the last one. */
    private boolean changed(String node, NodeOutcome outcome) {
        return !outcome.equals(outcomes.put(node, outcome));
    }

    /** A deletion that no replica saw, since none was active then. */
    private void reportDeletion(Verdict verdict) {
        NodeReference node = verdict.node();
        reportedFacts.remove(node.name());
        if (!node.uid().isEmpty() && node.goneSince() == null) {
            signals.nodeDeleted(node.name(), node.uid());
        }
    }

    /** Reports what the verdict does not know of the Node object: its identity, pool, zone, and whether it can be used. */
    private void reportNode(Verdict verdict, ObservedNode observed) {
        ObservedNode.NodeFacts facts = observed.facts().withLabels(labelKeys.get());
        NodeReference known = verdict.node();
        boolean news = !facts.uid().equals(known.uid())
                || known.goneSince() != null
                || !facts.placement().equals(known.placement());
        if (news && !facts.equals(reportedFacts.put(observed.name(), facts))) {
            signals.nodeObserved(observed.name(), facts).whenComplete((_, failed) -> {
                if (failed != null) {
                    reportedFacts.remove(observed.name(), facts);
                }
            });
        }
    }
}
