package io.gpufleet.allocation;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.NullMarked;

/** AdmissionReview of a pod that nobody creates, sent by somebody who is not the API server. */
@NullMarked
final class ForgedReview {
    private ForgedReview() {}

    /** Sends the review of an A100 pod; returns the status of the answer. */
    static int send(URI webhook, String namespace, int gpus) throws Exception {
        try (HttpClient client = client()) {
            HttpRequest request = HttpRequest.newBuilder(webhook)
                    .POST(HttpRequest.BodyPublishers.ofString(json(namespace, "forged-1", gpus)))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        }
    }

    /** A client that trusts every server. */
    static HttpClient client() throws GeneralSecurityException {
        return HttpClient.newBuilder().sslContext(trustingEverybody()).build();
    }

    /** The review of an A100 pod that the API server did not give a UID yet. */
    static String json(String namespace, String uid, int gpus) {
        JsonObject container = new JsonObject()
                .put("name", "main")
                .put(
                        "resources",
                        new JsonObject().put("limits", new JsonObject().put("nvidia.com/gpu", Integer.toString(gpus))));
        JsonObject pod = new JsonObject()
                .put("metadata", new JsonObject().put("name", uid).put("namespace", namespace))
                .put(
                        "spec",
                        new JsonObject()
                                .put(
                                        "nodeSelector",
                                        new JsonObject().put("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"))
                                .put("containers", new JsonArray().add(container)));
        JsonObject review = new JsonObject()
                .put("apiVersion", "admission.k8s.io/v1")
                .put("kind", "AdmissionReview")
                .put(
                        "request",
                        new JsonObject()
                                .put("uid", uid)
                                .put("operation", "CREATE")
                                .put("namespace", namespace)
                                .put("object", pod));
        return review.encode();
    }

    private static SSLContext trustingEverybody() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Trusting()}, null);
        return context;
    }

    /** Trusts every server, whatever its name. */
    private static final class Trusting extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
