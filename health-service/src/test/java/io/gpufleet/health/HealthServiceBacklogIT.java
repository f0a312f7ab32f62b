package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TracedApiServer;
import io.gpufleet.testbed.testkit.TracedApiServer.Trace;
import io.gpufleet.testbed.testkit.TracedApiServer.Write;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program starts with a backlog in which every GPU fails and is repaired over and over. A million events:
 * {@code ./gpufleet bench health --backlog 1000000}.
 */
class HealthServiceBacklogIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int NODES = 20;
    private static final int EVENTS_OF_A_NODE = 1_000;

    @TempDir
    private Path dir;

    @Test
    void nodesChangeOnlyOnceTheBacklogIsReadAndShowWhatIsTrueThen() throws IOException {
        try (TestBed bed = TestBed.start(dir)) {
            // Given
            var fields = new NodeFields(bed.client());
            IntStream.range(0, NODES).forEach(number -> fields.create(node(number)));
            writeTheBacklog(bed);
            var trace = new Trace();
            String instance = "health-service-0";
            try (TracedApiServer way = TracedApiServer.open(
                            trace, instance, bed.apiServer().url());
                    // When
                    var service = ProgramProcess.of("health-service", HealthMain.class.getName(), dir)
                            .environment(bed.settings())
                            .environment(Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"))
                            .environment(Map.of(
                                    "GPUFLEET_INSTANCE",
                                    instance,
                                    "KUBECONFIG",
                                    way.kubeconfig(bed.kubeconfig(), dir.resolve("kubeconfig"))
                                            .toString()))
                            .start()) {
                // Then
                await().atMost(TIMEOUT)
                        .until(() -> IntStream.range(0, NODES)
                                .filter(HealthServiceBacklogIT::failsAtLast)
                                .allMatch(number -> fields.taint(node(number)).isPresent()));
                List<Write> writes = trace.answered();
                for (int number = 0; number < NODES; number++) {
                    String node = node(number);
                    assertThat(writes.stream().filter(write -> write.addsTaint(node)))
                            .as("taints of %s", node)
                            .hasSize(failsAtLast(number) ? 1 : 0);
                    assertThat(writes.stream().filter(write -> write.removesTaint(node)))
                            .as("ends of a taint of %s", node)
                            .isEmpty();
                }
            }
        }
    }

    private static String node(int number) {
        return "node-" + number;
    }

    private static boolean failsAtLast(int number) {
        return number % 2 == 0;
    }

    private static void writeTheBacklog(TestBed bed) {
        try (var daemons = Executors.newVirtualThreadPerTaskExecutor()) {
            var written = IntStream.range(0, NODES)
                    .mapToObj(number -> daemons.submit(() -> writeTheBacklog(bed, number)))
                    .toList();
            assertThat(written).allSatisfy(each -> assertThat(each).succeedsWithin(TIMEOUT));
        }
    }

    private static void writeTheBacklog(TestBed bed, int number) {
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), node(number))) {
            daemon.announce(TestGpus.h100(1));
            for (int i = 0; i < EVENTS_OF_A_NODE; i++) {
                // The last one has an odd number.
                if ((i % 2 == 0) != failsAtLast(number)) {
                    daemon.observeXid(0, 79);
                } else {
                    daemon.clearXid(0, 79);
                }
            }
        }
    }
}
