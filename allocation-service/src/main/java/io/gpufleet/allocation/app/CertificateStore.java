package io.gpufleet.allocation.app;

import java.util.Map;
import java.util.Optional;

/** Store in which the replicas share the webhook's certificate. All calls block. */
public interface CertificateStore {
    /**
     * Content of the store.
     *
     * @param files PEM texts by file name
     * @param resourceVersion version to pass to the next save
     */
    record StoredCertificate(Map<String, String> files, String resourceVersion) {}

    /** Reads the store; empty when nothing is stored. */
    Optional<StoredCertificate> load() throws ApiServerException;

    /**
     * Saves the files unless the store changed since {@code resourceVersion} (empty: since nothing was stored); false when
     * it did, or when this replica is not the active one.
     */
    boolean save(Map<String, String> files, String resourceVersion) throws ApiServerException;
}
