package io.gpufleet.health.app;

import java.time.Duration;
import java.util.List;

/** Outcome of the last reconcile of a node, shown to operators. */
sealed interface NodeOutcome {
    /** Shown by a replica that does not lead. */
    String ON_STANDBY = "this replica is a standby: the leader patches Nodes and knows the outcome";

    /** Shown until the backlog of the node is read. */
    String BACKLOG = "not patched before the events that waited for this replica are read";

    /** No reconcile yet. */
    record NotReconciled() implements NodeOutcome {}

    /** The Node does not exist. */
    record NoSuchNode() implements NodeOutcome {}

    /** The informer has not listed the Nodes yet. */
    record NotWatched() implements NodeOutcome {}

    /** The Node is as desired. */
    record AsDesired() implements NodeOutcome {}

    /** Foreign fields are in place of ours. */
    record Foreign(List<String> fields) implements NodeOutcome {}

    /** An operator opted the node out. */
    record OptedOut() implements NodeOutcome {}

    /** The verdict was reached for another Node object. */
    record UidMismatch(String uid) implements NodeOutcome {}

    /** Another writer applied a newer revision. */
    record NewerRevision(long revision) implements NodeOutcome {}

    /** An applied field is missing; a second read decides. */
    record Missing(String target, Duration readAfter) implements NodeOutcome {}

    /** An applied field is missing in the second read, too. */
    record RemovedManually(String target) implements NodeOutcome {}

    /** Another controller removed an applied field again and again. */
    record RemovedByController(String target, String manager, int repairs) implements NodeOutcome {}

    /** A patch was rejected or not answered. */
    record Failed(String reason) implements NodeOutcome {}

    /** No call was made. */
    record LeaseEnded() implements NodeOutcome {}

    /** An operator froze the fleet. */
    record Frozen(String reason) implements NodeOutcome {}

    /** Every attempt of a patch met a changed Node. */
    record ConflictsExceeded() implements NodeOutcome {}

    /** One line for people. */
    default String text() {
        return switch (this) {
            case NotReconciled() -> "not reconciled yet";
            case NoSuchNode() -> "no such Node";
            case NotWatched() -> "Nodes cannot be watched now";
            case AsDesired() -> "as desired";
            case Foreign(List<String> fields) -> "foreign, left alone: " + fields;
            case OptedOut() -> "left alone: label gpufleet.io/managed=false";
            case UidMismatch(String uid) -> "Node UID differs, verdict for it follows: " + uid;
            case NewerRevision(long revision) ->
                "left alone: annotation of revision " + revision
                        + ", newer than ours; if no other replica is active, remove annotation gpufleet.io/applied";
            case Missing(String target, Duration readAfter) ->
                target + " is missing, read again in " + readAfter.toSeconds() + " s";
            case RemovedManually(String target) -> target + " was removed manually";
            case RemovedByController(String target, String manager, int repairs) ->
                target + " was applied again " + repairs + " times in an hour and removed by field manager " + manager
                        + " each time: keep it from the taints of others";
            case Failed(String reason) -> reason;
            case Frozen(String reason) -> "left alone: " + reason;
            case LeaseEnded() -> "this replica may not act now: no commit proves that it leads";
            case ConflictsExceeded() -> "the Node changes too often to be patched";
        };
    }
}
