package io.gpufleet.health.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.Config;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Trust in the authority of a kubeconfig, for HTTP clients that are not of Kubernetes. */
public final class ClusterTrust {
    private ClusterTrust() {}

    /** A context that trusts it. */
    public static SSLContext of(Config config) throws IOException, GeneralSecurityException {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry(
                "cluster",
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(authority(config))));
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    /** The authority, PEM. */
    static byte[] authority(Config config) throws IOException {
        return config.getCaCertData() == null
                ? Files.readAllBytes(Path.of(config.getCaCertFile()))
                : Base64.getMimeDecoder().decode(config.getCaCertData().getBytes(UTF_8));
    }
}
