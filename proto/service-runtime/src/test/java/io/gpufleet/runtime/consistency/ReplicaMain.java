package io.gpufleet.runtime.consistency;

import io.gpufleet.runtime.engine.EngineConfig;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * A replica as a process of its own, to be killed or stopped by a test. Told {@code hang}, it stops inside its next
 * transaction, after records were sent and before the commit, until it is told {@code go on}.
 */
final class ReplicaMain {
    /** Printed when the replica begins to act. */
    static final String ACTIVE = "ACTIVE";
    /** Printed when it hangs between sending and committing. */
    static final String IN_TRANSACTION = "IN TRANSACTION";
    /** Printed when it acts no more. */
    static final String DEACTIVATED = "DEACTIVATED";

    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile boolean hang;

    private ReplicaMain() {}

    /** Arguments: bootstrap servers, instance, class of the tested projection, clock offset. */
    public static void main(String[] arguments) throws ReflectiveOperationException, IOException {
        var constructor = Class.forName(arguments[2]).getDeclaredConstructor();
        constructor.setAccessible(true);
        new ReplicaMain()
                .run(
                        new ConsistencyBus(arguments[0]).engine(arguments[1], Duration.parse(arguments[3])),
                        (TestedProjection<?>) constructor.newInstance());
    }

    private <S> void run(EngineConfig config, TestedProjection<S> tested) throws IOException {
        InstantSource source = () -> {
            hangIfTold();
            return config.clock().instant();
        };
        var hanging =
                new EngineConfig(config.settings(), config.codec(), config.kafka(), source.withZone(ZoneOffset.UTC));
        try (var _ = ProjectionEngine.start(
                hanging, tested.create(), new Printing<S>(), StateListener.none(), System.out::println)) {
            obey();
        }
    }

    private void obey() throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            switch (line) {
                case "hang" -> hang = true;
                case "go on" -> goOn.countDown();
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    /** The clock is read once more inside a transaction, after the records were encoded. */
    private void hangIfTold() {
        if (!hang || !inTransaction()) {
            return;
        }
        hang = false;
        System.out.println(IN_TRANSACTION);
        try {
            goOn.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean inTransaction() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("sendInTransaction")));
    }

    /** Prints when acting begins and ends. */
    private static final class Printing<S> implements Actor<S> {
        @Override
        public void begin(Lease lease, States<S> states) {
            System.out.println(ACTIVE);
        }

        @Override
        public void changed(Map<String, S> states, Set<String> forgotten) {}

        @Override
        public void end() {
            System.out.println(DEACTIVATED);
        }
    }
}
