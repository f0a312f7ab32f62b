package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.gpufleet.testbed.kafka.BrokerIdentities;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.ScramUsers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients of a broker that asks who they are: by SCRAM, a token or a certificate. */
@NullMarked
class KafkaClientsIT {
    @TempDir
    private Path dir = Path.of("");

    @Test
    void certificatesRotateUnderAnOpenClientAndAWrongPasswordIsAnErrorOfItsOwn() throws Exception {
        try (var broker = BrokerProcess.startSecured(dir.resolve("kafka"))) {
            ScramUsers.add(broker, "right", List.of("reader"));

            // Given a client that is connected
            try (Admin open = Admin.create(clients(broker, "right").properties("open"))) {
                assertThat(open.describeCluster().nodes().get()).hasSize(1);

                // When the broker comes back with another key, and its certificate replaces the trusted one
                broker.stop();
                broker.replaceKey();
                broker.restart();

                // Then the same client goes on
                await().atMost(Duration.ofSeconds(60))
                        .ignoreExceptions()
                        .until(() -> open.describeCluster().nodes().get().size() == 1);
            }

            try (Admin wrong = Admin.create(clients(broker, "wrong").properties("wrong"))) {
                assertThatThrownBy(() -> wrong.describeCluster().nodes().get())
                        .isInstanceOf(ExecutionException.class)
                        .hasMessageContaining("invalid credentials");
            }
        }
    }

    @Test
    void clientsShowATokenOfAnIdentityProviderOrACertificate() throws Exception {
        HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.start();
        try (var broker = BrokerProcess.startWithIdentities(dir.resolve("kafka"))) {
            BrokerIdentities identities = broker.identities();
            provider.createContext("/token", exchange -> {
                byte[] token = "{\"access_token\": \"%s\", \"token_type\": \"bearer\", \"expires_in\": 3600}"
                        .formatted(identities.token("reader"))
                        .getBytes(UTF_8);
                exchange.sendResponseHeaders(200, token.length);
                exchange.getResponseBody().write(token);
                exchange.close();
            });
            Path byToken = Files.writeString(dir.resolve("token.properties"), """
                security.protocol=SASL_PLAINTEXT
                sasl.mechanism=OAUTHBEARER
                sasl.login.callback.handler.class=\
                org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler
                sasl.oauthbearer.token.endpoint.url=http://127.0.0.1:%d/token
                sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
                clientId="reader" clientSecret="of-a-test";
                """.formatted(
                            provider.getAddress().getPort()));
            Path byCertificate =
                    Files.writeString(dir.resolve("certificate.properties"), identities.certificateProperties());

            assertThat(nodes(identities.tokenBootstrap(), byToken)).isEqualTo(1);
            assertThat(nodes(identities.certificateBootstrap(), byCertificate)).isEqualTo(1);
        } finally {
            provider.stop(0);
        }
    }

    private static int nodes(String bootstrap, Path file) throws Exception {
        try (Admin admin =
                Admin.create(KafkaClients.of(bootstrap, file.toString()).properties("identity"))) {
            return admin.describeCluster().nodes().get().size();
        }
    }

    @Test
    void clientsGoOnWithTheKeyThatReplacesTheirsWhereTheBrokerRefusesTheFormerOne() throws Exception {
        try (var broker = BrokerProcess.startWithIdentities(dir.resolve("kafka"))) {
            // Given clients that are connected by their certificate
            BrokerIdentities identities = broker.identities();
            KafkaClients clients = byCertificate(identities, identities.certificateProperties());
            Path former = Files.copy(identities.clientKey(), dir.resolve("former.pem"));
            try (Admin admin = Admin.create(clients.properties("admin"));
                    var producer = new KafkaProducer<>(
                            clients.properties("producer"), new StringSerializer(), new StringSerializer());
                    var consumer = new KafkaConsumer<>(
                            clients.properties("consumer"), new StringDeserializer(), new StringDeserializer())) {
                admin.createTopics(List.of(new NewTopic("rotated", 1, (short) 1)))
                        .all()
                        .get();
                var partition = new TopicPartition("rotated", 0);
                consumer.assign(List.of(partition));
                consumer.seekToBeginning(List.of(partition));
                send(producer, "by the former key");
                awaitRecord(consumer, "by the former key");

                // When their key is replaced, and the broker comes back with another trust store
                broker.stop();
                identities.replaceClientKey();
                broker.restart();

                // Then the same clients go on
                send(producer, "by the next key");
                awaitRecord(consumer, "by the next key");
                await().atMost(Duration.ofSeconds(60))
                        .ignoreExceptions()
                        .until(() -> admin.describeCluster().nodes().get().size() == 1);
            }

            // And the broker refuses the former key
            String settings = identities.certificateProperties(former);
            try (Admin refused =
                    Admin.create(byCertificate(identities, settings).properties("former"))) {
                assertThatThrownBy(() -> refused.describeCluster().nodes().get())
                        .hasCauseInstanceOf(SslAuthenticationException.class);
            }
        }
    }

    private KafkaClients byCertificate(BrokerIdentities identities, String settings) throws IOException {
        Path file = Files.writeString(Files.createTempFile(dir, "certificate", ".properties"), settings);
        return KafkaClients.of(identities.certificateBootstrap(), file.toString());
    }

    private static void send(Producer<String, String> producer, String value) throws Exception {
        producer.send(new ProducerRecord<>("rotated", value)).get();
    }

    private static void awaitRecord(Consumer<String, String> consumer, String value) {
        await().atMost(Duration.ofSeconds(60))
                .until(() -> StreamSupport.stream(
                                consumer.poll(Duration.ofMillis(100)).spliterator(), false)
                        .anyMatch(read -> read.value().equals(value)));
    }

    @Test
    void wrongSettingsAreOneLineEach() throws IOException {
        assertThatThrownBy(() -> KafkaClients.plain("nonsense"))
                .hasMessage("'nonsense' is no Kafka server: write host:port, for example kafka.kafka.svc:9092, and"
                        + " several separated by commas");
        assertThatThrownBy(() -> KafkaClients.of("k:9092", "/no/such/file"))
                .hasMessageContaining("/no/such/file cannot be read");

        Path foreign = Files.writeString(dir.resolve("foreign"), "acks=1\nsecurity.protocl=SSL\n");
        assertThatThrownBy(() -> KafkaClients.of("k:9092", foreign.toString()))
                .hasMessageContaining("'acks', 'security.protocl' may not be set here")
                .message()
                .doesNotContain("\n");

        Path noStore = Files.writeString(dir.resolve("store"), "ssl.truststore.location=/no/such/store\n");
        assertThatThrownBy(() -> KafkaClients.of("k:9092", noStore.toString()))
                .hasMessageContaining("ssl.truststore.location='/no/such/store' is no file that can be read");

        Path noToken =
                Files.writeString(dir.resolve("token"), "sasl.oauthbearer.token.endpoint.url=file:///no/such/token\n");
        assertThatThrownBy(() -> KafkaClients.of("k:9092", noToken.toString()))
                .hasMessageContaining(
                        "sasl.oauthbearer.token.endpoint.url='file:///no/such/token' is no file that can be read");
    }

    private KafkaClients clients(BrokerProcess broker, String password) throws IOException {
        Path file = dir.resolve(password + ".properties");
        Files.writeString(file, broker.clientProperties("reader", password));
        return KafkaClients.of(broker.securedBootstrap(), file.toString());
    }
}
