package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.Cluster;
import io.gpufleet.allocation.app.ClusterException;
import io.gpufleet.allocation.app.QuotaTerm;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.PodAsk;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The API server, asked without a cache in between: a list without resourceVersion is a quorum read. */
public final class KubernetesCluster implements Cluster {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesCluster.class);
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final Clock clock;
    private boolean crdMissed;

    /** Speaks through the client, which stays its owner's. */
    public KubernetesCluster(KubernetesClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    @Override
    public List<GpuQuota> quotas() throws ClusterException {
        try {
            return client.genericKubernetesResources(QuotaObjects.CONTEXT).list().getItems().stream()
                    .map(QuotaObjects::read)
                    .toList();
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == NOT_FOUND) {
                tellOnce();
                return List.of();
            }
            throw new ClusterException("list of gpuquotas: " + Failure.line(failed), failed);
        }
    }

    private void tellOnce() {
        if (!crdMissed) {
            crdMissed = true;
            LOG.atWarn()
                    .log(
                            "there is no GpuQuota in this cluster: kubectl apply -f k8s/base/crds/gpuquotas.yaml; until then nothing is limited");
        }
    }

    @Override
    public List<PodAsk> gpuPods() throws ClusterException {
        try {
            return client.pods().inAnyNamespace().list().getItems().stream()
                    .filter(PodReader::asksForGpus)
                    .map(PodReader::ask)
                    .toList();
        } catch (KubernetesClientException failed) {
            throw new ClusterException("list of pods: " + Failure.line(failed), failed);
        }
    }

    @Override
    public Written writeStatus(GpuQuota quota) throws ClusterException {
        try {
            var quotas = client.genericKubernetesResources(QuotaObjects.CONTEXT);
            GenericKubernetesResource found = quotas.withName(quota.name()).get();
            if (found == null || !found.getMetadata().getResourceVersion().equals(quota.resourceVersion())) {
                return new Written.Conflict();
            }
            var written = quotas.resource(QuotaObjects.write(found, quota, clock.instant()))
                    .updateStatus();
            return new Written.Done(QuotaObjects.read(written));
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == CONFLICT || failed.getCode() == NOT_FOUND) {
                return new Written.Conflict();
            }
            throw new ClusterException("status of gpuquota/" + quota.name() + ": " + Failure.line(failed), failed);
        }
    }

    @Override
    public void labelNamespace(String namespace, boolean enforced) throws ClusterException {
        try {
            client.namespaces().withName(namespace).edit(found -> {
                Map<String, String> labels = new TreeMap<>(
                        found.getMetadata().getLabels() == null
                                ? new HashMap<>()
                                : found.getMetadata().getLabels());
                if (enforced) {
                    labels.put(QuotaTerm.LABEL, "enforce");
                } else {
                    labels.remove(QuotaTerm.LABEL);
                }
                return new NamespaceBuilder(found)
                        .editMetadata()
                        .withLabels(labels)
                        .endMetadata()
                        .build();
            });
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != NOT_FOUND) {
                throw new ClusterException("label of namespace " + namespace + ": " + Failure.line(failed), failed);
            }
        }
    }
}
