package io.gpufleet.nodedaemon;

import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.BrokerIdentities;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon, with the libraries that it is shipped with, on a broker that takes tokens of an identity provider. */
class DaemonTokenIT {
    @TempDir
    private Path dir;

    @Test
    void daemonPublishesWithTheTokenInAFile() throws Exception {
        var topics = new Topics(Topics.DEFAULT_PREFIX);
        try (var broker = BrokerProcess.startWithIdentities(dir.resolve("kafka"));
                var node = new DaemonTestNode("token", dir)) {
            TopicAdmin.apply(broker.bootstrap(), topics);
            BrokerIdentities identities = broker.identities();
            Path token = Files.writeString(dir.resolve("token"), identities.token("node-daemon"));
            Path clients = Files.writeString(dir.resolve("clients.properties"), """
                security.protocol=SASL_PLAINTEXT
                sasl.mechanism=OAUTHBEARER
                sasl.login.callback.handler.class=\
                org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler
                sasl.oauthbearer.token.endpoint.url=%s
                sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
                """.formatted(token.toUri()));
            Map<String, String> settings = Map.of(
                    "GPUFLEET_KAFKA", identities.tokenBootstrap(),
                    "GPUFLEET_KAFKA_CONFIG", clients.toString(),
                    "GPUFLEET_NODE", "n-token");

            try (var _ = node.daemon(settings);
                    var events = EventReader.ofNode(broker.bootstrap(), new Codec("c1", topics), "n-token")) {
                await().atMost(DaemonTestNode.TIMEOUT)
                        .until(() -> events.read().stream()
                                .anyMatch(read -> read.event().envelope().type() == EventType.NODE_ANNOUNCED));
            }
        }
    }
}
