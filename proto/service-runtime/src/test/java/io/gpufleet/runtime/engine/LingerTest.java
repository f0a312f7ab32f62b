package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two events of a node that arrive 20 ms apart. */
@NullMarked
class LingerTest {
    private static final String NODE = "node-1";
    private static final Duration STEP = Duration.ofMillis(5);

    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());

    private static final class LingeringProjection extends CountingProjection {
        private final Duration linger;
        private int written;

        LingeringProjection(Duration linger) {
            this.linger = linger;
        }

        @Override
        public Duration linger() {
            return linger;
        }

        @Override
        public Message write(String key, NodeHealthState state) {
            written++;
            return super.write(key, state);
        }
    }

    @ParameterizedTest(name = "a linger of {0} ms makes {1} transactions")
    @CsvSource({"0, 2", "100, 1"})
    void eventsThatArriveWithinTheLingerShareATransaction(int millis, int transactions) {
        // Given
        var projection = new LingeringProjection(Duration.ofMillis(millis));
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        Lockstep thread = lead(projection, fold);

        // When
        append(1, fold);
        run(thread, 4);
        append(2, fold);
        run(thread, 100);
        thread.kill();

        // Then
        assertThat(fold.nothingLeft()).isTrue();
        assertThat(projection.written).isEqualTo(transactions);
    }

    @Test
    void nothingIsAskedOfTheBrokerWhileABatchLingers() {
        // Given
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        Lockstep thread = lead(new LingeringProjection(Duration.ofMillis(100)), fold);

        // When
        append(1, fold);
        run(thread, 4);
        int before = broker.fetches();
        append(2, fold);
        run(thread, 10);

        // Then
        assertThat(broker.fetches()).isEqualTo(before);
        run(thread, 100);
        thread.kill();
        assertThat(fold.nothingLeft()).isTrue();
    }

    private Lockstep lead(LingeringProjection projection, CommittedFold<NodeHealthState> fold) {
        var random = new Random(1);
        SimulatedReplica<NodeHealthState> replica = SimulatedReplica.of(
                new SimulatedReplica.Shared<>(broker, codec, fold, random),
                "health-service-0",
                time.clock(() -> Duration.ZERO),
                new Link(random),
                projection,
                Actor.none());
        replica.elect(true);
        var thread = new Lockstep("health-service-0", replica::run);
        run(thread, 100);
        return thread;
    }

    private void run(Lockstep thread, int steps) {
        for (int step = 0; step < steps; step++) {
            time.advance(STEP);
            thread.step();
        }
    }

    private void append(long sequence, CommittedFold<NodeHealthState> fold) {
        fold.produced(NODE, new SimulatedFaults(broker, codec, time).append(NODE, sequence));
    }
}
