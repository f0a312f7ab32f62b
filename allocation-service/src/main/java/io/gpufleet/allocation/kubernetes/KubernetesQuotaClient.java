package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.QuotaClient;
import io.gpufleet.allocation.app.QuotaLeader;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.time.Clock;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Quotas and pods at the API server, without a cache: a list without resourceVersion is a quorum read. A status
 * is read before it is written, so the lease is asked in between.
 */
public final class KubernetesQuotaClient implements QuotaClient {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesQuotaClient.class);
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final ActiveLease active;
    private final Clock clock;
    private boolean missingCrdReported;

    /** Uses the client and does not close it. */
    public KubernetesQuotaClient(KubernetesClient client, ActiveLease active, Clock clock) {
        this.client = client;
        this.active = active;
        this.clock = clock;
    }

    @Override
    public List<GpuQuota> quotas() throws ApiServerException {
        try {
            return client.genericKubernetesResources(GpuQuotaMapper.CONTEXT).list().getItems().stream()
                    .map(GpuQuotaMapper::read)
                    .toList();
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == NOT_FOUND) {
                warnOfMissingCrd();
                return List.of();
            }
            throw new ApiServerException("list of gpuquotas: " + ApiErrorMessage.of(failed), failed);
        }
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
    public List<GpuPod> gpuPods() throws ApiServerException {
        try {
            return client.pods().inAnyNamespace().list().getItems().stream()
                    .filter(PodMapper::requestsGpus)
                    .map(PodMapper::gpuPod)
                    .toList();
        } catch (KubernetesClientException failed) {
            throw new ApiServerException("list of pods: " + ApiErrorMessage.of(failed), failed);
        }
    }

    @Override
    public UpdateResult updateStatus(GpuQuota quota) throws ApiServerException {
        try {
            var quotas = client.genericKubernetesResources(GpuQuotaMapper.CONTEXT);
            GenericKubernetesResource found = quotas.withName(quota.name()).get();
            if (found == null || !found.getMetadata().getResourceVersion().equals(quota.resourceVersion())) {
                return new UpdateResult.Conflict();
            }
            var next = quotas.resource(GpuQuotaMapper.write(found, quota, clock.instant()));
            active.require("status of gpuquota/" + quota.name());
            var written = next.updateStatus();
            return new UpdateResult.Updated(GpuQuotaMapper.read(written));
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == CONFLICT || failed.getCode() == NOT_FOUND) {
                return new UpdateResult.Conflict();
            }
            throw new ApiServerException(
                    "status of gpuquota/" + quota.name() + ": " + ApiErrorMessage.of(failed), failed);
        }
    }

    @Override
    public void labelNamespace(String namespace, boolean enforced) throws ApiServerException {
        try {
            String value = enforced ? "\"enforce\"" : "null";
            String patch = "{\"metadata\":{\"labels\":{\"" + QuotaLeader.NAMESPACE_LABEL + "\":" + value + "}}}";
            active.require("label of namespace " + namespace);
            client.namespaces().withName(namespace).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != NOT_FOUND) {
                throw new ApiServerException(
                        "label of namespace " + namespace + ": " + ApiErrorMessage.of(failed), failed);
            }
        }
    }
}
