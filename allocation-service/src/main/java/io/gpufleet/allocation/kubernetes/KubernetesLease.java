package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.quota.LeaseStore;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The Lease {@code gpufleet-quota-leader} in the namespace of this service. */
public final class KubernetesLease implements LeaseStore {
    private static final String NAME = "gpufleet-quota-leader";
    private static final String ADDRESS = "gpufleet.io/address";
    private static final int DURATION_SECONDS = 5;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final String namespace;
    private final Clock clock;

    /** Uses the client and does not close it; {@code clock} is for the people who read the Lease. */
    public KubernetesLease(KubernetesClient client, String namespace, Clock clock) {
        this.client = client;
        this.namespace = namespace;
        this.clock = clock;
    }

    @Override
    public Optional<LeaseRecord> read() throws ApiServerException {
        try {
            Lease found = client.leases().inNamespace(namespace).withName(NAME).get();
            return found == null ? Optional.empty() : Optional.of(record(found));
        } catch (KubernetesClientException failed) {
            throw failure(failed);
        }
    }

    private static LeaseRecord record(Lease lease) {
        Map<String, String> annotations = lease.getMetadata().getAnnotations();
        return new LeaseRecord(
                lease.getSpec() == null ? "" : text(lease.getSpec().getHolderIdentity()),
                annotations == null ? "" : annotations.getOrDefault(ADDRESS, ""),
                lease.getMetadata().getResourceVersion());
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    @Override
    public Optional<LeaseRecord> write(LeaseRecord lease) throws ApiServerException {
        Lease next = new LeaseBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(namespace)
                .withResourceVersion(lease.version().isEmpty() ? null : lease.version())
                .addToLabels("app.kubernetes.io/part-of", "gpufleet")
                .addToAnnotations(ADDRESS, lease.address())
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(lease.holder())
                .withLeaseDurationSeconds(DURATION_SECONDS)
                .withRenewTime(clock.instant().atZone(ZoneOffset.UTC))
                .endSpec()
                .build();
        var leases = client.leases().inNamespace(namespace).resource(next);
        try {
            return Optional.of(record(lease.version().isEmpty() ? leases.create() : leases.update()));
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == CONFLICT) {
                return Optional.empty();
            }
            if (failed.getCode() == NOT_FOUND) {
                if (lease.version().isEmpty()) {
                    NamespaceCreator.create(client, namespace);
                }
                return Optional.empty();
            }
            throw failure(failed);
        }
    }

    private ApiServerException failure(KubernetesClientException failed) {
        return new ApiServerException("Lease " + namespace + "/" + NAME + ": " + ApiErrorMessage.of(failed), failed);
    }
}
