package io.gpufleet.allocation.app;

/**
 * Certificate of the webhook, and the CA that the API server trusts.
 *
 * @param caPem certificate of the CA, PEM
 * @param certificatePem certificate of the server, PEM
 * @param keyPem private key of the server, PKCS#8 PEM
 */
public record ServingCertificate(String caPem, String certificatePem, String keyPem) {
    @Override
    public String toString() {
        return "ServingCertificate[key not shown]";
    }
}
