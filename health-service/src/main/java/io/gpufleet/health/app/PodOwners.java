package io.gpufleet.health.app;

import io.gpufleet.health.model.HealthSignal.Holder;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Which Job, Deployment or other controller owns a pod, as far as it was told; for readers on any thread. Keeps the
 * {@link #MAX_PODS} pods that it was told of last.
 */
public final class PodOwners {
    /** Pods that are kept at once. */
    public static final int MAX_PODS = 50_000;

    private final SequencedMap<PodName, OwnedPod> pods = new LinkedHashMap<>();

    /** A name may be used again, and on another node. */
    private record PodName(String node, String namespace, String pod) {}

    private record OwnedPod(String uid, String owner) {}

    /** Everything is told anew. */
    public synchronized void clear() {
        pods.clear();
    }

    /**
     * A pod of a node was observed.
     *
     * @param pod its UID may be empty
     * @param owner kind and name of the controlling owner, {@code Job/train-7}; empty when it has none
     */
    public synchronized void observed(String node, Holder pod, String owner) {
        var name = new PodName(node, pod.namespace(), pod.pod());
        pods.remove(name);
        if (!owner.isEmpty()) {
            pods.putLast(name, new OwnedPod(pod.podUid(), owner));
        }
        if (pods.size() > MAX_PODS) {
            pods.pollFirstEntry();
        }
    }

    /** Kind and name of the controlling owner of a pod on a node; empty when it has none, or it is not known. */
    public synchronized Optional<String> of(String node, Holder pod) {
        return Optional.ofNullable(pods.get(new PodName(node, pod.namespace(), pod.pod())))
                .filter(known -> pod.podUid().isEmpty()
                        || known.uid().isEmpty()
                        || known.uid().equals(pod.podUid()))
                .map(OwnedPod::owner);
    }
}
