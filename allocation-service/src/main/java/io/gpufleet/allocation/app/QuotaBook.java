package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.quota.Answer;
import io.gpufleet.allocation.model.quota.Denial;
import io.gpufleet.allocation.model.quota.GpuAsk;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.NodeFacts;
import io.gpufleet.allocation.model.quota.PodAsk;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.quota.Used;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who has what of which quota: pods seen, reservations for pods admitted and not seen yet, and what a predecessor may
 * have admitted. Used by one thread.
 */
public final class QuotaBook {
    private static final int BLOCK = 64;
    private static final int GONE_KEPT = 10_000;

    private record Claim(PodAsk pod, int gpus, Set<String> models, boolean own, long sinceNanos) {
        Claim on(Set<String> others) {
            return new Claim(pod, gpus, others, own, sinceNanos);
        }
    }

    private final TreeMap<String, GpuQuota> quotas = new TreeMap<>();
    private final Map<String, Map<String, String>> namespaces = new TreeMap<>();
    private final ModelMap models = new ModelMap();
    private final Map<String, Claim> pods = new LinkedHashMap<>();
    private final Map<String, Claim> reservations = new LinkedHashMap<>();
    private final Set<String> gone = new java.util.LinkedHashSet<>();
    private final Map<String, Map<String, Integer>> carried = new HashMap<>();
    private final Set<String> fresh = new HashSet<>();
    private long modelsSeen;

    /** A quota as it stands; an older version than the known one is ignored. */
    public void quota(GpuQuota quota) {
        GpuQuota known = quotas.get(quota.name());
        if (known == null || version(quota) >= version(known)) {
            quotas.put(quota.name(), quota);
        }
    }

    /** A quota was deleted. */
    public void quotaGone(String name) {
        quotas.remove(name);
        carried.remove(name);
    }

    /** A namespace and its labels. */
    public void namespace(String name, Map<String, String> labels) {
        namespaces.put(name, Map.copyOf(labels));
    }

    /** A namespace was deleted. */
    public void namespaceGone(String name) {
        namespaces.remove(name);
    }

    /** A Node object. */
    public void node(NodeFacts node) {
        models.node(node);
    }

    /** A Node object was deleted. */
    public void nodeGone(String name) {
        models.nodeGone(name);
    }

    /** What a node's daemon announced. */
    public void models(String node, List<GpuModel> announced) {
        models.announced(node, announced);
    }

    /** A pod as it stands. Its reservation is consumed; a terminal pod holds nothing. */
    public void pod(PodAsk pod) {
        if (gone.contains(pod.uid())) {
            return;
        }
        boolean own = consume(pod);
        if (pod.over() || !(GpuAsk.of(pod.containers()) instanceof GpuAsk.Count(int gpus)) || gpus == 0) {
            pods.remove(pod.uid());
            return;
        }
        pods.put(pod.uid(), new Claim(pod, gpus, models.modelsFor(pod.placement()), own, 0));
    }

    /** A pod is gone; its UID never comes back. */
    public void podGone(String uid) {
        pods.remove(uid);
        reservations.remove(uid);
        gone.add(uid);
        if (gone.size() > GONE_KEPT) {
            gone.remove(gone.iterator().next());
        }
    }

    private boolean consume(PodAsk pod) {
        Claim known = pods.get(pod.uid());
        if (known != null) {
            return known.own();
        }
        if (reservations.remove(pod.uid()) != null) {
            return true;
        }
        return reservations.entrySet().stream()
                .filter(entry -> becomes(entry.getValue().pod(), pod))
                .map(Map.Entry::getKey)
                .findFirst()
                .map(key -> reservations.remove(key) != null)
                .orElse(false);
    }

    private static boolean becomes(PodAsk asked, PodAsk pod) {
        return !asked.uidKnown()
                && asked.namespace().equals(pod.namespace())
                && (asked.name().isEmpty()
                        ? !asked.generateName().isEmpty() && pod.name().startsWith(asked.generateName())
                        : asked.name().equals(pod.name()));
    }

    /** Decides on one pod and, unless it is a dry run, reserves for it; asked twice, it answers alike. */
    Answer decide(PodAsk pod, boolean dryRun, long nanos) {
        return switch (GpuAsk.of(pod.containers())) {
            case GpuAsk.Mistake(String line) -> new Answer.Denied(line);
            case GpuAsk.Count(int gpus) ->
                gpus == 0 || reservations.containsKey(pod.uid())
                        ? Answer.Admitted.PLAINLY
                        : decide(pod, gpus, dryRun, nanos);
        };
    }

    private Answer decide(PodAsk pod, int gpus, boolean dryRun, long nanos) {
        refreshModels();
        Set<String> candidates = models.modelsFor(pod.placement());
        List<String> warnings = new ArrayList<>();
        boolean counted = false;
        for (GpuQuota quota : covering(pod.namespace())) {
            counted = true;
            List<String> objections = objections(quota, candidates, gpus);
            if (!objections.isEmpty() && quota.mode() == GpuQuota.Mode.ENFORCE) {
                return new Answer.Denied(objections.getFirst());
            }
            warnings.addAll(objections);
        }
        if (counted && !dryRun) {
            reservations.put(pod.uid(), new Claim(pod, gpus, candidates, true, nanos));
            fresh.add(pod.uid());
        }
        return warnings.isEmpty() ? Answer.Admitted.PLAINLY : new Answer.Admitted(List.copyOf(warnings));
    }

    private List<String> objections(GpuQuota quota, Set<String> candidates, int gpus) {
        List<QuotaLimit> concerned = quota.limits().stream()
                .filter(limit -> limit.counts(candidates))
                .toList();
        boolean byModel = concerned.stream().anyMatch(limit -> !limit.model().equals(QuotaLimit.ANY));
        boolean unclear = candidates.size() > 1 || candidates.contains(QuotaLimit.UNKNOWN);
        if (byModel && unclear && quota.unpinned() == GpuQuota.Unpinned.DENY) {
            return List.of(Denial.unpinned(quota, candidates));
        }
        List<String> objections = new ArrayList<>();
        for (QuotaLimit limit : concerned) {
            Used used = used(quota, limit);
            if (used.gpus() + gpus > limit.gpus()) {
                objections.add(Denial.beyond(quota, limit, used, gpus));
            }
        }
        return objections;
    }

    /** What counts on a limit now. */
    Used used(GpuQuota quota, QuotaLimit limit) {
        int others = 0;
        int own = 0;
        List<Used.Holder> holders = new ArrayList<>();
        for (Collection<Claim> claims : List.of(pods.values(), reservations.values())) {
            for (Claim claim : claims) {
                if (limit.counts(claim.models()) && covers(quota, claim.pod().namespace())) {
                    holders.add(new Used.Holder(claim.pod().label(), claim.gpus()));
                    own += claim.own() ? claim.gpus() : 0;
                    others += claim.own() ? 0 : claim.gpus();
                }
            }
        }
        int before = carried.getOrDefault(quota.name(), Map.of()).getOrDefault(limit.model(), 0);
        int aside = Math.max(0, before - others);
        return new Used(own + others + aside, aside, holders);
    }

    private void refreshModels() {
        if (modelsSeen != models.version()) {
            modelsSeen = models.version();
            pods.replaceAll(
                    (uid, claim) -> claim.on(models.modelsFor(claim.pod().placement())));
            reservations.replaceAll(
                    (uid, claim) -> claim.on(models.modelsFor(claim.pod().placement())));
        }
    }

    /** Quotas that cover a namespace, in name order. */
    List<GpuQuota> covering(String namespace) {
        return quotas.values().stream()
                .filter(quota -> covers(quota, namespace))
                .toList();
    }

    private boolean covers(GpuQuota quota, String namespace) {
        return quota.covers(namespace, namespaces.getOrDefault(namespace, Map.of()));
    }

    /** All quotas, in name order. */
    List<GpuQuota> quotas() {
        return List.copyOf(quotas.values());
    }

    /** Namespaces whose label has to change: true where an Enforce quota covers them. */
    Map<String, Boolean> labelsToSet(String label) {
        Map<String, Boolean> wanted = new TreeMap<>();
        namespaces.forEach((name, labels) -> {
            boolean enforced = covering(name).stream().anyMatch(quota -> quota.mode() == GpuQuota.Mode.ENFORCE);
            if (enforced != "enforce".equals(labels.getOrDefault(label, ""))) {
                wanted.put(name, enforced);
            }
        });
        return wanted;
    }

    /** What the escrow of a quota has to be before what is reserved may be told; the status to write, or the same. */
    QuotaStatus needed(GpuQuota quota) {
        Map<String, Integer> escrow = new TreeMap<>(quota.status().escrow());
        for (QuotaLimit limit : quota.limits()) {
            int now = escrow.getOrDefault(limit.model(), 0);
            int committed = Math.min(limit.gpus(), used(quota, limit).gpus());
            if (committed > now) {
                int block = Math.min(BLOCK, limit.gpus() - now);
                escrow.put(limit.model(), Math.max(committed, now + block));
            }
        }
        return quota.status().escrowing(escrow);
    }

    /** What is used now by limit, and the escrow lowered to that where it is idle. */
    QuotaStatus counted(GpuQuota quota, boolean lower) {
        refreshModels();
        Map<String, Integer> counts = new TreeMap<>();
        Map<String, Integer> escrow = new TreeMap<>();
        for (QuotaLimit limit : quota.limits()) {
            Used used = used(quota, limit);
            counts.put(limit.model(), used.gpus() - used.setAside());
            int standing = quota.status().escrow().getOrDefault(limit.model(), 0);
            escrow.put(limit.model(), lower ? Math.min(standing, used.gpus()) : standing);
        }
        return quota.status().counting(counts).escrowing(escrow);
    }

    /** The whole escrow of a quota counts as used, for pods that a predecessor may have admitted. */
    void setAside(GpuQuota quota) {
        carried.put(quota.name(), quota.status().escrow());
    }

    /** What predecessors admitted has been seen by now. */
    void nothingAside() {
        carried.clear();
        pods.replaceAll((uid, claim) -> new Claim(claim.pod(), claim.gpus(), claim.models(), false, 0));
    }

    /** True while something is set aside. */
    boolean hasAside() {
        return carried.values().stream()
                .anyMatch(byModel -> byModel.values().stream().anyMatch(gpus -> gpus > 0));
    }

    /** A batch of answers was told: its reservations stay. */
    void told() {
        fresh.clear();
    }

    /** A batch could not be told: its reservations go. */
    void untold() {
        fresh.forEach(reservations::remove);
        fresh.clear();
    }

    /** True when a reservation was made before then. */
    boolean reservedBefore(long nanos) {
        return reservations.values().stream().anyMatch(claim -> claim.sinceNanos() - nanos < 0);
    }

    /** Reservations older than that have no pod: a quorum list taken since did not show one. */
    void release(long nanos) {
        reservations.values().removeIf(claim -> claim.sinceNanos() - nanos < 0);
    }

    /** Another term begins or ends: nothing is reserved, and whatever is seen was admitted before. */
    void newTerm() {
        reservations.clear();
        fresh.clear();
        nothingAside();
    }

    private static long version(GpuQuota quota) {
        try {
            return Long.parseLong(quota.resourceVersion());
        } catch (NumberFormatException opaque) {
            return Long.MAX_VALUE;
        }
    }
}
