package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Services that start while the name of Kafka is not resolved, as that of a headless Service whose brokers are away. */
class UnresolvedKafkaIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final String HOST = "kafka.site.example";
    /** Of each client of a service at most one, and the check of the topics. */
    private static final int LINES = 6;

    @TempDir
    private Path directory;

    @Test
    void servicesNameItAndGoOnOnceTheNameIsResolved() throws Exception {
        Path hosts = directory.resolve("hosts");
        String local = "127.0.0.1 localhost " + InetAddress.getLocalHost().getHostName() + "\n";
        Files.writeString(hosts, local);
        try (var broker = BrokerProcess.start(directory.resolve("kafka"));
                var api = FakeApiServer.start("127.0.0.1", 0)) {
            TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
            Path kubeconfig = api.kubeconfig(directory.resolve("kubeconfig"));
            Map<String, String> settings = Map.of(
                    "GPUFLEET_CLUSTER",
                    "c1",
                    "GPUFLEET_KAFKA",
                    broker.bootstrap().replace("127.0.0.1", HOST),
                    "KUBECONFIG",
                    kubeconfig.toString(),
                    // Read again for each name; one that was not found is looked up again after 10 s
                    "JDK_JAVA_OPTIONS",
                    "-Djdk.net.hosts.file=" + hosts);
            try (var inventory = start("inventory-service", "io.gpufleet.inventory.InventoryMain", settings);
                    var health = start("health-service", "io.gpufleet.health.HealthMain", settings);
                    var allocation = start("allocation-service", "io.gpufleet.allocation.AllocationMain", settings)) {
                List<ProgramProcess> services = List.of(inventory, health, allocation);
                services.forEach(UnresolvedKafkaIT::awaitReason);

                Files.writeString(hosts, local + "127.0.0.1 " + HOST + "\n");

                services.forEach(service -> service.awaitReady(TIMEOUT));
                assertThat(services)
                        .allSatisfy(service ->
                                assertThat(service.log().lines()).noneMatch(line -> line.startsWith("\tat ")));
            }
        }
    }

    private static void awaitReason(ProgramProcess service) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(service.log())
                        .contains("Kafka does not answer")
                        .contains("started program="));
        assertThat(service.get("/readyz").status()).isEqualTo(503);
        assertThat(service.get("/readyz").body()).contains(HOST, "No resolvable bootstrap urls");
        assertThat(service.log().lines().filter(line -> line.contains("resolvable")))
                .as(service.log())
                .hasSizeLessThan(LINES);
    }

    private ProgramProcess start(String name, String mainClass, Map<String, String> settings) {
        var program = ProgramProcess.of(name, mainClass, directory)
                .environment(settings)
                .freePort("GPUFLEET_GRPC_PORT");
        if (name.equals("allocation-service")) {
            program.environment(Map.of("GPUFLEET_WEBHOOK_HOST", "127.0.0.1", "GPUFLEET_NAMESPACE", "gpufleet"))
                    .freePort("GPUFLEET_WEBHOOK_PORT");
        }
        return program.start();
    }
}
