package io.gpufleet.wire.fold;

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
 * A replica as a process of its own, to be killed or stopped by a test. After folding {@link #HANG} it stands still in
 * the middle of the transaction until it is told to go on. Prints its life on standard output.
 */
@NullMarked
final class ReplicaMain {
    static final String HANG = "stand still inside the transaction";

    private final BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private int stampsUntilHang = -1;

    private ReplicaMain() {}

    public static void main(String[] arguments) throws IOException {
        new ReplicaMain().run(arguments[0], arguments[1], arguments[2]);
    }

    private void run(String bootstrap, String prefix, String instance) throws IOException {
        var settings = new FoldSettings("counting", instance, bootstrap, "", Bus.SESSION);
        var fold = new CountingFold() {
            @Override
            public List<Outbound> fold(Inbound event, Instant now) {
                List<Outbound> outputs = super.fold(event, now);
                if (event.payload() instanceof FaultObserved fault
                        && fault.getFault().getMessage().equals(HANG)) {
                    // The decision and the state are stamped inside the transaction: stop between them.
                    stampsUntilHang = 2;
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
        try (var engine = FoldEngine.start(settings, new Codec(Bus.CLUSTER, new Topics(prefix)), fold, clock(source))) {
            org.awaitility.Awaitility.await().timeout(Duration.ofMinutes(5)).until(() -> engine.role() == Role.STOPPED);
        }
    }

    private Instant instant() {
        if (stampsUntilHang > 0 && --stampsUntilHang == 0) {
            System.out.println("IN TRANSACTION");
            try {
                System.out.println("GOES ON " + orders.readLine());
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }
        return Instant.now();
    }

    private static Clock clock(InstantSource source) {
        return source.withZone(ZoneOffset.UTC);
    }
}
