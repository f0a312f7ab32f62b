package io.gpufleet.allocation.app;

/**
 * Certificate of the webhook, and the CA that the API server trusts.
 *
 * @param caPem certificate of the CA, PEM
 * @param certificatePem certificate of the server, PEM
 * @param keyPem private key of the server, PKCS#8 PEM
 * @param proofKey secret of the replicas, for {@link AdmissionProof}
 */
public record ServingCertificate(String caPem, String certificatePem, String keyPem, String proofKey) {
    @Override
    public String toString() {
        return "ServingCertificate[key not shown]";
    }
}
