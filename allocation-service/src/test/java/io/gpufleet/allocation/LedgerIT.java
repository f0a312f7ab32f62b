package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.compose.kubeapi.KubeApi;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ledger on a real broker: the sums are the truth, whatever is told twice and whoever dies in between. */
@NullMarked
class LedgerIT {
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    static Path dir;

    private static BrokerProcess broker;
    private static KubeApi api;
    private static Map<String, String> settings;

    @BeforeAll
    static void open() {
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        api = KubeApi.start("127.0.0.1", 0);
        settings = new HashMap<>(Map.of(
                "KUBECONFIG", api.kubeconfig(dir.resolve("kubeconfig")).toString(),
                "GPUFLEET_CLUSTER", "it",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_WEBHOOK_HOST", "127.0.0.1",
                "GPUFLEET_WEBHOOK_PORT", Integer.toString(AllocationProcess.freePort())));
    }

    @AfterAll
    static void close() {
        api.close();
        broker.close();
    }

    private static AllocationProcess service() {
        return AllocationProcess.start(Path.of("target", "it-ledger.log"), settings);
    }

    private static double allocatedSeconds(AllocationProcess service) {
        var answer = service.get("/v1/usage");
        if (answer.status() != 200) {
            return -1;
        }
        JsonArray rows = new JsonObject(answer.body()).getJsonArray("usage");
        return rows.stream()
                .map(JsonObject.class::cast)
                .mapToDouble(row -> row.getDouble("gpuSeconds"))
                .sum();
    }

    private static int open(AllocationProcess service) {
        var answer = service.get("/v1/holdings");
        return answer.status() == 200
                ? new JsonObject(answer.body()).getJsonArray("holdings").size()
                : -1;
    }

    @Test
    void sumsAreTheTruthUnderDuplicatesKillsAndReplay() {
        Instant start = Instant.now().minusSeconds(3_600).truncatedTo(ChronoUnit.SECONDS);
        try (var daemon = new TestDaemon(broker.bootstrap(), "it", "n1")) {
            AllocationProcess service = service().ready(true);
            // Given three pods: 100 s on one GPU, 200 s on two, 50 s on one after the first
            daemon.announce("NVIDIA A100", "A100", 4);
            daemon.allocated(start, 0);
            daemon.heldTwice(start.plusMillis(500), Map.of(0, "one"));
            daemon.allocated(start.plusSeconds(10), 1, 2);
            daemon.held(start.plusSeconds(11), Map.of(0, "one", 1, "two", 2, "two"));
            AllocationProcess first = service;
            await().atMost(SOON).until(() -> open(first) == 3);
            // When the replica dies while facts go on
            service.kill();
            daemon.podFinished("one", start.plusSeconds(100));
            daemon.heldTwice(start.plusSeconds(103), Map.of(1, "two", 2, "two"));
            daemon.allocated(start.plusSeconds(110), 0);
            AllocationProcess second = service().ready(true);
            daemon.held(start.plusSeconds(111), Map.of(0, "three", 1, "two", 2, "two"));
            daemon.podFinished("three", start.plusSeconds(160));
            second.kill();
            daemon.held(start.plusSeconds(215), Map.of());
            AllocationProcess third = service().ready(true);
            daemon.podFinished("two", start.plusSeconds(210));
            daemon.podFinished("two", start.plusSeconds(210));
            // Then
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(allocatedSeconds(third)).isEqualTo(100 + 2 * 200 + 50));
            assertThat(open(third)).isZero();
            third.close();
        }
    }
}
