package io.gpufleet.allocation.app;

/**
 * Certificate of the webhook, the CA that the API server trusts, and the certificate that the CA issued this replica.
 *
 * @param caPem certificates of the CA, PEM: during its renewal of both
 * @param certificatePem certificate of the server, PEM
 * @param keyPem private key of the server, PKCS#8 PEM
 * @param proofKey secret of the replicas, for {@link AdmissionProof}
 * @param replica for connections between replicas
 */
public record ServingCertificate(
        String caPem, String certificatePem, String keyPem, String proofKey, ReplicaCertificate replica) {
    /** Certificate, PEM, and private key, PKCS#8 PEM, of this process. */
    public record ReplicaCertificate(String certificatePem, String keyPem) {
        @Override
        public String toString() {
            return "ReplicaCertificate[key not shown]";
        }
    }

    @Override
    public String toString() {
        return "ServingCertificate[key not shown]";
    }
}
