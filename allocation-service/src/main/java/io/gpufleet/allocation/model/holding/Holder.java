package io.gpufleet.allocation.model.holding;

/**
 * A container that has devices of one resource.
 *
 * @param podUid UID of the pod; empty while unknown
 */
public record Holder(String namespace, String pod, String podUid, String container, String resource) {
    /** True unless the pods differ: by name, or by two known UIDs. */
    public boolean maybeSamePod(Holder other) {
        return namespace.equals(other.namespace) && pod.equals(other.pod) && !uidsDiffer(podUid, other.podUid);
    }

    /** True when the pods may be the same and the containers are. */
    public boolean maybeSameContainer(Holder other) {
        return maybeSamePod(other) && container.equals(other.container);
    }

    /** True when both UIDs are known and differ. */
    public static boolean uidsDiffer(String one, String other) {
        return !one.isEmpty() && !other.isEmpty() && !one.equals(other);
    }

    /** The same holder with its UID, if it was unknown. */
    public Holder withPodUid(String uid) {
        return podUid.isEmpty() ? new Holder(namespace, pod, uid, container, resource) : this;
    }
}
