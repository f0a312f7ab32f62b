package io.gpufleet.allocation.app;

import java.util.Map;
import java.util.Optional;

/** Where replicas share the webhook's certificate. All calls block. */
public interface CertificateStore {
    /**
     * What is stored.
     *
     * @param files PEM texts by file name
     * @param version to be named by the next save
     */
    record Stored(Map<String, String> files, String version) {}

    /** What is stored, if anything. */
    Optional<Stored> load() throws ClusterException;

    /** Stores, unless somebody else did since the version was read (empty: since there was nothing); false then. */
    boolean save(Map<String, String> files, String version) throws ClusterException;
}
