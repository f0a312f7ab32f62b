package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.BrokerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients of a broker with TLS and SCRAM. */
@NullMarked
class KafkaClientsIT {
    @TempDir
    private Path dir = Path.of("");

    @Test
    void certificatesRotateUnderAnOpenClientAndAWrongPasswordIsAnErrorOfItsOwn() throws Exception {
        try (var broker = BrokerProcess.startSecured(dir.resolve("kafka"))) {
            addUser(broker, "reader", "right");

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
    }

    private KafkaClients clients(BrokerProcess broker, String password) throws IOException {
        Path file = dir.resolve(password + ".properties");
        Files.writeString(file, broker.clientProperties("reader", password));
        return KafkaClients.of(broker.securedBootstrap(), file.toString());
    }

    private static void addUser(BrokerProcess broker, String user, String password) throws Exception {
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        try (Admin admin = Admin.create(plain)) {
            var credentials = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(user, credentials, password)))
                    .all()
                    .get();
        }
    }
}
