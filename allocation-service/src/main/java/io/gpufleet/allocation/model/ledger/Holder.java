package io.gpufleet.allocation.model.ledger;

/**
 * A container that has devices of one resource.
 *
 * @param podUid UID of the pod; empty while unknown
 */
public record Holder(String namespace, String pod, String podUid, String container, String resource) {
    /** True unless the two can not be the same pod: other names, or two UIDs that are known and differ. */
    public boolean maybeSamePod(Holder other) {
        return namespace.equals(other.namespace) && pod.equals(other.pod) && !uidsDiffer(podUid, other.podUid);
    }

    /** True when it may be the same pod, and the container is the same. */
    public boolean maybeSame(Holder other) {
        return maybeSamePod(other) && container.equals(other.container);
    }

    /** True when both UIDs are known and are not equal. */
    static boolean uidsDiffer(String one, String other) {
        return !one.isEmpty() && !other.isEmpty() && !one.equals(other);
    }

    /** The same holder with what became known of its UID. */
    Holder learning(String uid) {
        return podUid.isEmpty() ? new Holder(namespace, pod, uid, container, resource) : this;
    }
}
