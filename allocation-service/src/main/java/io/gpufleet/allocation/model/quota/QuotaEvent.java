package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

/** A change of the {@link QuotaState}: an observation of the cluster, or an act of the leader. */
public sealed interface QuotaEvent {
    /** A quota was read; a version older than the known one has no effect. */
    record QuotaObserved(GpuQuota quota) implements QuotaEvent {}

    /** A quota was deleted. */
    record QuotaDeleted(String name) implements QuotaEvent {}

    /** A namespace and its labels were observed. */
    record NamespaceObserved(String name, Map<String, String> labels) implements QuotaEvent {}

    /** A namespace was deleted. */
    record NamespaceDeleted(String name) implements QuotaEvent {}

    /** A Node object was observed. */
    record NodeObserved(NodeInfo node) implements QuotaEvent {}

    /** A Node object was deleted. */
    record NodeDeleted(String name) implements QuotaEvent {}

    /** The daemon of a node announced its GPUs. */
    record GpusAnnounced(String node, AnnouncedGpus gpus) implements QuotaEvent {}

    /** Resources are GPUs, by configuration or because a node announced them; known for good. */
    record GpuResourcesKnown(Set<String> names) implements QuotaEvent {
        /** Copies. */
        public GpuResourcesKnown {
            names = Set.copyOf(names);
        }
    }

    /** A pod was observed at a monotonic time: its reservation ends, and a terminal pod counts no longer. */
    record PodObserved(GpuPod pod, long nanos) implements QuotaEvent {}

    /** A pod was deleted; a later observation of its UID has no effect. */
    record PodDeleted(String uid) implements QuotaEvent {}

    /** Every pod of a list was observed, which began at a monotonic time: a pod that was not is gone. */
    record PodsListed(long sinceNanos) implements QuotaEvent {}

    /** Pods that are being deleted count no longer once their grace period has passed. */
    record TimePassed(Instant now) implements QuotaEvent {}

    /** The leader admitted a pod and reserved its GPUs. */
    record PodReserved(CountedPod reservation) implements QuotaEvent {}

    /** The request of a reserved pod was not answered: no pod can be created. */
    record ReservationDropped(String uid) implements QuotaEvent {}

    /** Reservations made before a monotonic time ended: a quorum list taken since showed no pods for them. */
    record ReservationsReleased(long beforeNanos) implements QuotaEvent {}

    /**
     * The escrow of a quota, by limit, counts as used, for pods that an earlier leader may have admitted; a limit without a
     * row counts whole.
     */
    record CarriedOver(String quota, Map<String, Integer> escrow) implements QuotaEvent {}

    /** Every pod that an earlier leader admitted has been observed. */
    record CarryOverCleared() implements QuotaEvent {}

    /** A term began or ended: every pod, and every reservation, was admitted earlier. */
    record TermStarted() implements QuotaEvent {}
}
