package io.gpufleet.wire.projection;

import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.NullMarked;

/**
 * A replica as a separate process, which a test can kill or stop. After applying {@link #HANG} it blocks inside the
 * transaction until it reads a line on standard input. Prints its state on standard output.
 */
@NullMarked
final class ReplicaMain {
    static final String HANG = "hang inside the transaction";

    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private int clockReadsUntilHang = -1;

    private ReplicaMain() {}

    public static void main(String[] arguments) throws IOException {
        new ReplicaMain().run(arguments[0], arguments[1], arguments[2]);
    }

    private void run(String bootstrap, String prefix, String instance) throws IOException {
        var settings = new ProjectionSettings("counting", instance, bootstrap, "", TestBus.SESSION);
        var projection = new CountingProjection() {
            @Override
            public List<Outbound> fold(Inbound event, Instant now) {
                List<Outbound> outputs = super.fold(event, now);
                if (event.payload() instanceof FaultObserved fault
                        && fault.getFault().getMessage().equals(HANG)) {
                    // The decision and the state read the clock inside the transaction: hang between them.
                    clockReadsUntilHang = 2;
                }
                return outputs;
            }

            @Override
            public void activated(Instant now) {
                System.out.println("ACTIVE");
            }

            @Override
            public void deactivated() {
                System.out.println("DEACTIVATED");
            }
        };
        InstantSource source = this::instant;
        try (var engine = ProjectionEngine.start(
                settings, new Codec(TestBus.CLUSTER, new Topics(prefix)), projection, clock(source))) {
            org.awaitility.Awaitility.await()
                    .timeout(Duration.ofMinutes(5))
                    .until(() -> engine.role() == ReplicaRole.STOPPED);
        }
    }

    private Instant instant() {
        if (clockReadsUntilHang > 0 && --clockReadsUntilHang == 0) {
            System.out.println("IN TRANSACTION");
            try {
                System.out.println("RESUMED " + input.readLine());
            } catch (IOException closed) {
                throw new UncheckedIOException(closed);
            }
        }
        return Instant.now();
    }

    private static Clock clock(InstantSource source) {
        return source.withZone(ZoneOffset.UTC);
    }
}
