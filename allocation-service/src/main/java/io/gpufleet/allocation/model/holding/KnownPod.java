package io.gpufleet.allocation.model.holding;

import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;

/**
 * Owner and labels of a pod of the node, as they were when they were first known: later changes move no usage.
 *
 * @param owner kind and name of the controlling owner, or empty
 * @param labels see {@link PodLabels}
 * @param seenAt append time of the fact
 */
public record KnownPod(
        String namespace, String pod, String podUid, String owner, SortedMap<String, String> labels, Instant seenAt) {
    private static final int MAX_OWNER = 320;
    private static final int FIXED_BYTES = 64;

    /** Bounds what it keeps. */
    public KnownPod {
        owner = owner.length() > MAX_OWNER ? owner.substring(0, MAX_OWNER) : owner;
        labels = PodLabels.bounded(labels);
    }

    /** True when the holder is this pod: by UID, or by name while its UID is unknown. */
    public boolean matches(Holder holder) {
        return holder.namespace().equals(namespace)
                && holder.pod().equals(pod)
                && !Holder.uidsDiffer(holder.podUid(), podUid);
    }

    /** True when the other is of the same pod. */
    public boolean isSamePod(KnownPod other) {
        return namespace.equals(other.namespace) && pod.equals(other.pod) && podUid.equals(other.podUid);
    }

    /** About how many bytes of the node's state it takes. */
    public int bytes() {
        int bytes = FIXED_BYTES + namespace.length() + pod.length() + podUid.length() + owner.length();
        for (Map.Entry<String, String> label : labels.entrySet()) {
            bytes += label.getKey().length() + label.getValue().length() + 8;
        }
        return bytes;
    }
}
