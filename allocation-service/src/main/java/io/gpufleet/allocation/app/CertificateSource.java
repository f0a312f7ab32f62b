package io.gpufleet.allocation.app;

import java.util.Optional;

/** Source of the webhook's serving certificate. */
@FunctionalInterface
public interface CertificateSource {
    /** Returns the certificate; empty when another replica is to store one, so that a retry will find it. Blocks. */
    Optional<ServingCertificate> obtain() throws ApiServerException;
}
