package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program while daemons send nothing, for as long as a daemon may be silent. */
class HealthServiceSilenceIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String HEARD = "node-0";
    private static final String SILENT = "node-1";
    private static final String SILENT_WITH_A_FAULT = "node-2";
    private static final int NODES = 3;

    @TempDir
    private Path dir;

    private final ScheduledExecutorService heartbeat = Executors.newSingleThreadScheduledExecutor();
    private TestBed bed;
    private NodeFields fields;
    private List<DaemonEventProducer> daemons;
    private ProgramProcess service;

    @BeforeEach
    void startTheServiceAndOneHeartbeat() {
        bed = TestBed.start(dir);
        fields = new NodeFields(bed.client());
        daemons = TestedHealthService.announceNodes(bed, NODES);
        service = TestedHealthService.program(dir)
                .environment(bed.settings())
                .start()
                .awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_active 1.0"));
        var _ = heartbeat.scheduleAtFixedRate(() -> daemons.getFirst().sample(), 0, 1, TimeUnit.SECONDS);
    }

    @AfterEach
    void stopAll() throws InterruptedException {
        heartbeat.shutdown();
        assertThat(heartbeat.awaitTermination(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        service.close();
        daemons.forEach(DaemonEventProducer::close);
        bed.close();
    }

    private JsonObject why(String node) {
        return TestedHealthService.why(service, node);
    }

    @Test
    void nodeThatIsSilentWhileAnotherIsHeardIsUnknownAndStaysInService() {
        // Given
        daemons.get(2).observeXid(0, 79);
        await().atMost(TIMEOUT)
                .until(() -> fields.condition(SILENT_WITH_A_FAULT).equals("True Xid79"));

        // When nothing more comes from two of the daemons

        // Then
        await().atMost(TIMEOUT).until(() -> fields.condition(SILENT).equals("Unknown DaemonSilent"));
        assertThat(fields.taint(SILENT)).isEmpty();
        assertThat(fields.read(SILENT).getMetadata().getLabels()).doesNotContainKey("gpufleet.io/health");
        assertThat(fields.eventReasons(SILENT)).contains("DaemonSilent");
        assertThat(why(SILENT).getBoolean("trusted")).isTrue();
        assertThat(fields.condition(HEARD)).isIn("", "False GpusHealthy");

        // Then a problem that is known stays
        await().atMost(TIMEOUT)
                .until(() -> why(SILENT_WITH_A_FAULT).getString("presence").equals("DaemonSilent"));
        assertThat(fields.condition(SILENT_WITH_A_FAULT)).isEqualTo("True Xid79");
        assertThat(fields.taint(SILENT_WITH_A_FAULT)).map(Taint::getValue).contains("Xid79");

        // When
        daemons.get(1).sample();

        // Then
        await().atMost(TIMEOUT).until(() -> fields.condition(SILENT).equals("False GpusHealthy"));
        assertThat(fields.taint(SILENT)).isEmpty();
    }
}
