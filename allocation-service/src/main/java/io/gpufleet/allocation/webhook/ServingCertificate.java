package io.gpufleet.allocation.webhook;

/**
 * What the webhook serves with, and what the API server trusts.
 *
 * @param caPem certificate of our own authority, PEM
 * @param certificatePem certificate of the server, PEM
 * @param keyPem its private key, PKCS#8 PEM
 */
public record ServingCertificate(String caPem, String certificatePem, String keyPem) {
    @Override
    public String toString() {
        return "ServingCertificate[key not shown]";
    }
}
