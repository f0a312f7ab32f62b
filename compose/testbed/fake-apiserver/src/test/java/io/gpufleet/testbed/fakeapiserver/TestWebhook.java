package io.gpufleet.testbed.fakeapiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A webhook over TLS with a certificate of its own and a fixed response. */
final class TestWebhook implements AutoCloseable {
    private static final String PASSWORD = "changeit";

    private final HttpsServer server;
    private final String caBundle;
    private final List<JsonNode> reviews = new CopyOnWriteArrayList<>();

    private TestWebhook(HttpsServer server, String caBundle) {
        this.server = server;
        this.caBundle = caBundle;
    }

    /** Answers every review with its uid and these members of the response. */
    static TestWebhook start(String response) throws Exception {
        KeyStore keys = selfSigned();
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        String pem = "-----BEGIN CERTIFICATE-----\n"
                + Base64.getMimeEncoder()
                        .encodeToString(keys.getCertificate("webhook").getEncoded())
                + "\n-----END CERTIFICATE-----\n";
        TestWebhook webhook =
                new TestWebhook(server, Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)));
        server.createContext("/", exchange -> {
            JsonNode review = Json.object(exchange.getRequestBody().readAllBytes());
            webhook.reviews.add(review);
            byte[] answer = ("{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{"
                            + "\"uid\":\"" + Json.text(review, "request", "uid") + "\"," + response + "}}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        return webhook;
    }

    /** The JDK creates certificates with keytool only. */
    private static KeyStore selfSigned() throws Exception {
        Path directory = Files.createTempDirectory("webhook");
        Path file = directory.resolve("keys.p12");
        int exit = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-J-XX:+UseSerialGC",
                        "-genkeypair",
                        "-alias",
                        "webhook",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=webhook",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IllegalStateException("keytool exited with " + exit);
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Files.delete(file);
        Files.delete(directory);
        return keys;
    }

    String url() {
        return "https://127.0.0.1:" + server.getAddress().getPort() + "/validate";
    }

    String caBundle() {
        return caBundle;
    }

    List<JsonNode> reviews() {
        return reviews;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
