package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.ReplicaRole;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** When a replica that starts stands for election. */
@NullMarked
class ElectionIT {
    private final TestBus bus = TestBus.withNewPrefix();

    /** Reads no state before it is told to. */
    private static final class WaitingProjection extends CountingProjection {
        private final CountDownLatch reading = new CountDownLatch(1);
        private final CountDownLatch mayRead = new CountDownLatch(1);

        @Override
        public NodeHealthState read(String key, Message state) {
            reading.countDown();
            try {
                mayRead.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            return super.read(key, state);
        }
    }

    @Test
    void replicaThatIsAloneJoinsTheGroupWhileItReadsItsStates() throws Exception {
        // Given
        var projection = new WaitingProjection();
        writeAState();

        // When
        try (var engine = bus.start("health-service-0", projection)) {
            projection.reading.await();

            // Then
            await().until(() -> members().contains("health-service-0"));
            assertThat(engine.role()).isEqualTo(ReplicaRole.STARTING);
            projection.mayRead.countDown();
            await().until(engine::active);
        }
    }

    @Test
    void replicaBesideAnotherJoinsTheGroupOnceItHasReadItsStates() throws Exception {
        // Given
        var projection = new WaitingProjection();
        try (var leader = bus.start("health-service-1", new CountingProjection())) {
            await().until(leader::active);
            writeAState();

            // When
            try (var engine = bus.start("health-service-0", projection)) {
                projection.reading.await();
                assertThat(members()).containsExactly("health-service-1");
                projection.mayRead.countDown();

                // Then
                await().until(() -> members().contains("health-service-0"));
                await().until(() -> engine.role() == ReplicaRole.STANDBY);
            }
        }
    }

    private void writeAState() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var writer = bus.start("health-service-2", new CountingProjection())) {
            node.send(node.fault("GPU-1", 79, ""));
            await().until(() -> writer.states().get("n1").isPresent());
        }
    }

    private List<String> members() throws InterruptedException {
        String group = "gpufleet-" + bus.topics.prefix() + "counting";
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bus.broker.bootstrap()))) {
            return Objects.requireNonNull(admin.describeConsumerGroups(List.of(group))
                            .describedGroups()
                            .get(group))
                    .get()
                    .members()
                    .stream()
                    .map(member -> member.groupInstanceId().orElse(""))
                    .toList();
        } catch (ExecutionException failed) {
            assertThat(failed).hasCauseInstanceOf(GroupIdNotFoundException.class);
            return List.of();
        }
    }
}
