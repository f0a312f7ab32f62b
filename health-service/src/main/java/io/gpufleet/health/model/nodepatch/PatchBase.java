package io.gpufleet.health.model.nodepatch;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Preconditions of a patch of a Node beside the fields themselves.
 *
 * @param resourceVersion tells one observation from another; a patch does not ask for it, since every heartbeat of the
 *     kubelet changes it
 * @param applied our annotation as it was found, also when it cannot be read; null when absent
 * @param labels false when the object has no labels at all
 * @param annotations false when the object has no annotations at all
 * @param spec false when the object has no spec
 * @param taintsManager field manager that wrote the taints last; empty where Kubernetes does not tell, as for a list of
 *     which nothing is left
 * @param cordonManager field manager that made the Node unschedulable; empty where it is schedulable or nobody tells
 */
public record PatchBase(
        String resourceVersion,
        @Nullable String applied,
        boolean labels,
        boolean annotations,
        boolean spec,
        String taintsManager,
        String cordonManager) {
    /** Field manager of our own patches. */
    public static final String FIELD_MANAGER = "gpufleet-health";

    /** Clients that people use; every other field manager is a controller. */
    private static final List<String> CLIENTS_OF_PEOPLE =
            List.of("kubectl", "oc", "k9s", "lens", "node-fetch", "headlamp", "freelens", "mozilla", "curl");

    /**
     * Writers that change their own taints only, each time against the version that they read: Kubernetes adds and removes
     * {@code node.kubernetes.io/…} at once when a Node is uncordoned or ready again, often just after somebody removed a taint.
     */
    private static final Set<String> WRITERS_OF_OWN_TAINTS =
            Set.of(FIELD_MANAGER, "kube-controller-manager", "cloud-controller-manager");

    /** An object of which the manager of the taints is not known. */
    public PatchBase(
            String resourceVersion, @Nullable String applied, boolean labels, boolean annotations, boolean spec) {
        this(resourceVersion, applied, labels, annotations, spec, "");
    }

    /** An object that is schedulable. */
    public PatchBase(
            String resourceVersion,
            @Nullable String applied,
            boolean labels,
            boolean annotations,
            boolean spec,
            String taintsManager) {
        this(resourceVersion, applied, labels, annotations, spec, taintsManager, "");
    }

    /** Field manager that removed a taint which is missing; empty where the last writer of the taints says nothing about it. */
    public String taintRemover() {
        return WRITERS_OF_OWN_TAINTS.contains(taintsManager) ? "" : taintsManager;
    }

    /** True when a controller removed a taint which is missing. */
    public boolean taintRemovedByController() {
        String name = taintRemover().toLowerCase(Locale.ROOT);
        return !name.isEmpty()
                && CLIENTS_OF_PEOPLE.stream().noneMatch(client -> name.equals(client) || name.startsWith(client + "-"));
    }

    /** True when we made the Node unschedulable. */
    public boolean cordonedByUs() {
        return cordonManager.equals(FIELD_MANAGER);
    }

    /** True when somebody else made the Node unschedulable, as far as Kubernetes tells. */
    public boolean cordonedByAnother() {
        return !cordonManager.isEmpty() && !cordonedByUs();
    }

    /** True when we wrote the taints last. */
    public boolean taintsWrittenByUs() {
        return taintsManager.equals(FIELD_MANAGER);
    }

    /** An object with a label, an annotation and a spec, and without our annotation. */
    public static PatchBase of(String resourceVersion) {
        return new PatchBase(resourceVersion, null, true, true, true);
    }
}
