package io.gpufleet.runtime.engine;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.consistency.ReplicaProcess;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;

/**
 * A replica as a process of its own, to be killed or stopped by a test. After a fault of the device {@link #HANG} it
 * stops inside the transaction, after records were sent and before the commit, until it is told to go on. Prints what
 * happens on standard output.
 */
@NullMarked
final class ReplicaMain {
    static final String HANG = "GPU-hang";

    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private volatile boolean hangAtOffsets;

    private ReplicaMain() {}

    /** Starts a process of it. */
    static ReplicaProcess start(TestBus bus, String instance) throws IOException {
        return ReplicaProcess.start(ReplicaMain.class, bus.broker.bootstrap(), bus.topics.prefix(), instance);
    }

    public static void main(String[] arguments) throws IOException {
        new ReplicaMain().run(arguments[0], arguments[1], arguments[2]);
    }

    private void run(String bootstrap, String prefix, String instance) throws IOException {
        var settings =
                new ProjectionSettings("counting", instance, "", TestBus.SESSION, TestBus.LEASE, TestBus.GAP_WAIT);
        var projection = new CountingProjection() {
            @Override
            public Message write(String key, NodeHealthState state) {
                boolean hang = state.getDevicesList().stream()
                        .map(DeviceHealthState::getDeviceUuid)
                        .anyMatch(HANG::equals);
                if (hang && !hangAtOffsets) {
                    hangAtOffsets = true;
                }
                return state;
            }

            @Override
            public void begin(Lease lease, States<NodeHealthState> states) {
                System.out.println("ACTIVE");
            }

            @Override
            public void end() {
                System.out.println("DEACTIVATED");
            }
        };
        InstantSource source = this::instant;
        var codec = new Codec(TestBus.CLUSTER, new Topics(prefix));
        try (var engine = ProjectionEngine.start(
                new EngineConfig(settings, codec, KafkaClients.plain(bootstrap), source.withZone(ZoneOffset.UTC)),
                projection,
                projection,
                StateListener.none(),
                line -> System.out.println("FAILED " + line))) {
            Awaitility.await().timeout(Duration.ofMinutes(5)).until(() -> engine.role() == ReplicaRole.STOPPED);
        }
    }

    /** The clock is read once more inside the transaction, after the records were encoded. */
    private Instant instant() {
        if (hangAtOffsets && inTransaction()) {
            hangAtOffsets = false;
            System.out.println("IN TRANSACTION");
            try {
                System.out.println("GOES ON " + input.readLine());
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }
        return Instant.now();
    }

    private static boolean inTransaction() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("sendInTransaction")));
    }
}
