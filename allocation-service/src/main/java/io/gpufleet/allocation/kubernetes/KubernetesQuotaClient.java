package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.quota.QuotaClient;
import io.gpufleet.allocation.app.quota.QuotaLeader;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Quotas and pods at the API server, without a cache: a list without resourceVersion is a quorum read. The lease
 * is asked immediately before a write.
 */
public final class KubernetesQuotaClient implements QuotaClient {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesQuotaClient.class);
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int EXPIRED = 410;
    /** Answers that the same object gets again: bad request, forbidden, invalid. */
    private static final Set<Integer> REJECTED = Set.of(400, 403, 422);

    /** Pods of 10 KB take ten times as much while they are read. */
    private static final long PAGE = 200;

    private static final Duration LIST_DEADLINE = Duration.ofMinutes(2);

    private final KubernetesClient client;
    private final KubernetesClient lists;
    private final ActiveLease active;
    private final Clock clock;
    /**
     * A quota as an object and as it was read from it.
     *
     * @param problem why the specification is still the last one that could be read; empty where it is that of the object
     */
    private record KnownQuota(GenericKubernetesResource object, GpuQuota quota, String problem) {
        boolean hasVersion(String version) {
            return quota.resourceVersion().equals(version);
        }

        boolean isSameObject(GenericKubernetesResource other) {
            return object.getMetadata().getUid().equals(other.getMetadata().getUid());
        }
    }

    /**
     * Quotas as read last: a write of the version that is known needs no read before it, and a list that finds it again
     * leaves only garbage that dies young.
     */
    private final Map<String, KnownQuota> known = new ConcurrentHashMap<>();

    private volatile boolean missingCrdReported;

    /** Uses the clients and does not close them; {@code lists} waits longer for an answer. */
    public KubernetesQuotaClient(KubernetesClient client, KubernetesClient lists, ActiveLease active, Clock clock) {
        this.client = client;
        this.lists = lists;
        this.active = active;
        this.clock = clock;
    }

    @Override
    public QuotaList quotas() throws ApiServerException {
        try {
            List<GpuQuota> readable = new ArrayList<>();
            List<QuotaProblem> unreadable = new ArrayList<>();
            Set<String> names = new HashSet<>();
            for (GenericKubernetesResource object : resources().list().getItems()) {
                String name = object.getMetadata().getName();
                names.add(name);
                try {
                    KnownQuota found = remember(object);
                    readable.add(found.quota());
                    if (!found.problem().isEmpty()) {
                        unreadable.add(new QuotaProblem(name, found.problem()));
                    }
                } catch (RuntimeException meaningless) {
                    unreadable.add(new QuotaProblem(name, "its specification cannot be read: " + meaningless));
                }
            }
            known.keySet().retainAll(names);
            return new QuotaList(readable, unreadable);
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == NOT_FOUND) {
                warnOfMissingCrd();
                return new QuotaList(List.of(), List.of());
            }
            throw new ApiServerException("list of gpuquotas: " + ApiErrorMessage.of(failed), failed);
        }
    }

    @Override
    public Optional<GpuQuota> quota(String name) throws ApiServerException {
        try {
            GenericKubernetesResource found = resources().withName(name).get();
            return found == null
                    ? Optional.empty()
                    : Optional.of(remember(found).quota());
        } catch (KubernetesClientException failed) {
            throw new ApiServerException("gpuquota/" + name + ": " + ApiErrorMessage.of(failed), failed);
        } catch (RuntimeException meaningless) {
            return Optional.empty();
        }
    }

    /**
     * Reads a quota; one whose specification can be read no longer keeps the last one that could, and is closed where nobody
     * knows that.
     */
    private KnownQuota remember(GenericKubernetesResource object) {
        KnownQuota before = known.get(object.getMetadata().getName());
        if (before != null && before.hasVersion(object.getMetadata().getResourceVersion())) {
            return before;
        }
        KnownQuota now = read(object, before);
        known.put(now.quota().name(), now);
        return now;
    }

    private static KnownQuota read(GenericKubernetesResource object, @Nullable KnownQuota before) {
        try {
            return new KnownQuota(object, GpuQuotaMapper.read(object), "");
        } catch (RuntimeException meaningless) {
            if (before != null && before.isSameObject(object)) {
                return new KnownQuota(
                        object,
                        GpuQuotaMapper.readStatus(object, before.quota()),
                        "its specification cannot be read, what it was before stays in force: " + meaningless);
            }
            GpuQuota closed = GpuQuotaMapper.closed(object).orElseThrow(() -> meaningless);
            return new KnownQuota(
                    object,
                    closed,
                    "its specification cannot be read and what it was before is not known, so that no further pod with"
                            + " GPUs is admitted: " + meaningless);
        }
    }

    private NonNamespaceOperation<
                    GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>>
            resources() {
        return client.genericKubernetesResources(GpuQuotaMapper.CONTEXT);
    }

    private void warnOfMissingCrd() {
        if (!missingCrdReported) {
            missingCrdReported = true;
            LOG.atWarn()
                    .log("CRD gpuquotas.gpufleet.io is not installed: kubectl apply -f"
                            + " k8s/base/crds/gpuquotas.yaml; until then no quota is enforced");
        }
    }

    @Override
    public void gpuPods(Consumer<List<GpuPod>> page) throws ApiServerException {
        try {
            pages(
                    options -> lists.pods().inAnyNamespace().list(options),
                    pods -> page.accept(pods.stream()
                            .filter(PodMapper::mayRequestGpus)
                            .map(PodMapper::gpuPod)
                            .toList()));
        } catch (KubernetesClientException failed) {
            throw new ApiServerException("list of pods: " + ApiErrorMessage.of(failed), failed);
        }
        claims(page);
    }

    private void claims(Consumer<List<GpuPod>> page) throws ApiServerException {
        try {
            pages(
                    options -> lists.genericKubernetesResources(ResourceClaimApi.CONTEXT)
                            .inAnyNamespace()
                            .list(options),
                    claims -> page.accept(
                            claims.stream().map(ResourceClaimApi::read).toList()));
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != NOT_FOUND) {
                throw new ApiServerException("list of resourceclaims: " + ApiErrorMessage.of(failed), failed);
            }
        }
    }

    /** Lists page by page, and from the beginning where the revision of the pages before is gone. */
    private static <T extends HasMetadata> void pages(
            Function<ListOptions, ? extends KubernetesResourceList<T>> list, Consumer<List<T>> page)
            throws ApiServerException {
        long deadline = System.nanoTime() + LIST_DEADLINE.toNanos();
        String next = "";
        do {
            if (System.nanoTime() - deadline > 0) {
                throw new ApiServerException("list: not complete after " + LIST_DEADLINE.toSeconds() + " s");
            }
            try {
                var found = list.apply(new ListOptionsBuilder()
                        .withLimit(PAGE)
                        .withContinue(next.isEmpty() ? null : next)
                        .build());
                page.accept(found.getItems());
                String rest = found.getMetadata().getContinue();
                next = rest == null ? "" : rest;
            } catch (KubernetesClientException failed) {
                if (failed.getCode() != EXPIRED || next.isEmpty()) {
                    throw failed;
                }
                next = "";
            }
        } while (!next.isEmpty());
    }

    @Override
    public UpdateResult updateStatus(GpuQuota quota) throws ApiServerException {
        try {
            KnownQuota before = known.get(quota.name());
            GenericKubernetesResource found = before != null && before.hasVersion(quota.resourceVersion())
                    ? before.object()
                    : resources().withName(quota.name()).get();
            if (found == null || !found.getMetadata().getResourceVersion().equals(quota.resourceVersion())) {
                return new UpdateResult.Conflict();
            }
            String problem = before == null ? "" : before.problem();
            var next = resources().resource(GpuQuotaMapper.write(found, quota, problem, clock.instant()));
            active.require("status of gpuquota/" + quota.name());
            return new UpdateResult.Updated(remember(next.updateStatus()).quota());
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == CONFLICT || failed.getCode() == NOT_FOUND) {
                return new UpdateResult.Conflict();
            }
            throw new ApiServerException(
                    "status of gpuquota/" + quota.name() + ": " + ApiErrorMessage.of(failed),
                    failed,
                    REJECTED.contains(failed.getCode()));
        }
    }

    @Override
    public void reportProblem(QuotaProblem problem) throws ApiServerException {
        try {
            GenericKubernetesResource found =
                    resources().withName(problem.quota()).get();
            if (found != null) {
                GpuQuotaMapper.writeProblem(found, problem.reason(), clock.instant())
                        .ifPresent(next -> resources().resource(next).updateStatus());
            }
        } catch (KubernetesClientException failed) {
            throw new ApiServerException(
                    "status of gpuquota/" + problem.quota() + ": " + ApiErrorMessage.of(failed), failed);
        }
    }

    @Override
    public void labelNamespace(String namespace, boolean enforced) throws ApiServerException {
        try {
            String value = enforced ? "\"enforce\"" : "null";
            String patch = "{\"metadata\":{\"labels\":{\"" + QuotaLeader.NAMESPACE_LABEL + "\":" + value + "}}}";
            active.require("label of namespace " + namespace);
            // Its name only: a patch by name alone would read the namespace before it.
            var named = new NamespaceBuilder()
                    .withNewMetadata()
                    .withName(namespace)
                    .endMetadata()
                    .build();
            client.resource(named).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != NOT_FOUND) {
                throw new ApiServerException(
                        "label of namespace " + namespace + ": " + ApiErrorMessage.of(failed), failed);
            }
        }
    }
}
