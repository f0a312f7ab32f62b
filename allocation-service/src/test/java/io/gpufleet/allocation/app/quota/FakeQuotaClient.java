package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** API server that keeps quotas and pods in memory, rejects stale updates, and can be made unavailable. */
final class FakeQuotaClient implements QuotaClient {
    private final Map<String, GpuQuota> quotas = new TreeMap<>();
    private final List<GpuPod> pods = new ArrayList<>();
    private final Map<String, Boolean> labels = new TreeMap<>();
    private long version;
    private boolean unavailable;
    private boolean podsFail;
    private Runnable onRead = () -> {};
    private int writes;
    private int lists;
    private int lostAnswers;
    private boolean besideTheDecider = true;
    private final Set<String> refused = new HashSet<>();
    private final Map<String, String> problems = new TreeMap<>();
    private final List<QuotaProblem> unreadable = new ArrayList<>();

    synchronized void put(GpuQuota quota) {
        quotas.put(quota.name(), versioned(quota));
    }

    synchronized void delete(String name) {
        quotas.remove(name);
    }

    synchronized GpuQuota present(String name) {
        GpuQuota quota = quotas.get(name);
        if (quota == null) {
            throw new AssertionError("no quota " + name);
        }
        return quota;
    }

    synchronized void pod(GpuPod pod) {
        pods.add(pod);
    }

    synchronized void unavailable(boolean now) {
        unavailable = now;
    }

    /** Whether lists of the pods fail. */
    synchronized void failPods(boolean now) {
        podsFail = now;
    }

    /** Runs during every list of the quotas. */
    synchronized void onRead(Runnable action) {
        onRead = action;
    }

    /** Removes a pod without telling anybody. */
    synchronized void removePod(String uid) {
        pods.removeIf(pod -> pod.uid().equals(uid));
    }

    /** Refuses every status of a quota. */
    synchronized void refuse(String quota) {
        refused.add(quota);
    }

    /** Writes the next statuses, so many of them, and does not answer. */
    synchronized void loseAnswers(int number) {
        lostAnswers = number;
    }

    /** A quota whose specification cannot be read. */
    synchronized void unreadable(String quota, String reason) {
        unreadable.add(new QuotaProblem(quota, reason));
    }

    synchronized Map<String, String> problems() {
        return Map.copyOf(problems);
    }

    /** Whether the thread that calls now is another one than that which decides; unless told otherwise each is. */
    synchronized void besideTheDecider(boolean now) {
        besideTheDecider = now;
    }

    synchronized int lists() {
        return lists;
    }

    synchronized int writes() {
        return writes;
    }

    synchronized void forgetLabels() {
        labels.clear();
    }

    synchronized Map<String, Boolean> labels() {
        return Map.copyOf(labels);
    }

    @Override
    public synchronized QuotaList quotas() throws ApiServerException {
        failIfUnavailable();
        onRead.run();
        return new QuotaList(List.copyOf(quotas.values()), List.copyOf(unreadable));
    }

    @Override
    public synchronized Optional<GpuQuota> quota(String name) throws ApiServerException {
        failIfUnavailable();
        return Optional.ofNullable(quotas.get(name));
    }

    @Override
    public synchronized void gpuPods(Consumer<List<GpuPod>> page) throws ApiServerException {
        failIfUnavailable();
        if (podsFail) {
            throw new ApiServerException("list of pods: 504");
        }
        lists++;
        page.accept(List.copyOf(pods));
    }

    @Override
    public synchronized void reportProblem(QuotaProblem problem) throws ApiServerException {
        failIfUnavailable();
        problems.put(problem.quota(), problem.reason());
    }

    @Override
    public synchronized UpdateResult updateStatus(GpuQuota quota) throws ApiServerException {
        failIfUnavailable();
        GpuQuota now = quotas.get(quota.name());
        if (refused.contains(quota.name())) {
            throw new ApiServerException("422 status is invalid", new IllegalStateException(), true);
        }
        if (now == null || !now.resourceVersion().equals(quota.resourceVersion())) {
            return new UpdateResult.Conflict();
        }
        writes++;
        GpuQuota written = versioned(now.withStatus(quota.status()));
        quotas.put(quota.name(), written);
        if (lostAnswers > 0) {
            lostAnswers--;
            throw new ApiServerException("status of gpuquota/" + quota.name() + ": no answer");
        }
        return new UpdateResult.Updated(written);
    }

    @Override
    public synchronized void labelNamespace(String namespace, boolean enforced) throws ApiServerException {
        failIfUnavailable();
        labels.put(namespace, enforced);
    }

    private GpuQuota versioned(GpuQuota quota) {
        version++;
        return new GpuQuota(
                quota.name(),
                Long.toString(version),
                quota.namespaces(),
                quota.selector(),
                quota.limits(),
                quota.mode(),
                quota.ambiguousModel(),
                quota.status());
    }

    private void failIfUnavailable() throws ApiServerException {
        if (!besideTheDecider) {
            throw new AssertionError("the thread that decides calls the API server");
        }
        if (unavailable) {
            throw new ApiServerException("the API server is unavailable");
        }
    }
}
