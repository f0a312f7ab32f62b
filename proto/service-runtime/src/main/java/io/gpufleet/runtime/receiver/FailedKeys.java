package io.gpufleet.runtime.receiver;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keys whose committed state an actor or a listener refused; every other key is passed on all the same. */
public final class FailedKeys {
    private static final Logger LOG = LoggerFactory.getLogger(FailedKeys.class);
    private static final Duration SHOWN = Duration.ofMinutes(1);

    private record Failure(long untilNanos, String line) {}

    private final LongSupplier nanos;
    private final AtomicLong count = new AtomicLong();
    private final ConcurrentMap<String, Failure> failures = new ConcurrentHashMap<>();

    /** Nothing failed yet; the monotonic clock tells when a failure need not be shown any more. */
    public FailedKeys(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Passes everything on at once; where that fails, again key by key. */
    <S> void pass(
            String receiver,
            BiConsumer<Map<String, S>, Set<String>> call,
            Map<String, S> states,
            Set<String> forgotten) {
        try {
            call.accept(states, forgotten);
        } catch (RuntimeException failed) {
            states.forEach((key, state) -> passOne(receiver, key, () -> call.accept(Map.of(key, state), Set.of())));
            forgotten.forEach(key -> passOne(receiver, key, () -> call.accept(Map.of(), Set.of(key))));
        }
    }

    private void passOne(String receiver, String key, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException failed) {
            String line = receiver + " failed for '" + key + "': " + reason(failed);
            LOG.atError()
                    .addKeyValue("node", key)
                    .addKeyValue("error", failed.toString())
                    .log(receiver + " failed");
            count.incrementAndGet();
            failures.put(key, new Failure(nanos.getAsLong() + SHOWN.toNanos(), line));
        }
    }

    private static String reason(RuntimeException failed) {
        return failed.getMessage() == null ? failed.toString() : failed.getMessage();
    }

    /** How often a key failed since the process started. */
    public long count() {
        return count.get();
    }

    /** A line for each key that failed within the last minute. */
    public List<String> lines() {
        long now = nanos.getAsLong();
        failures.values().removeIf(failure -> failure.untilNanos() - now < 0);
        return failures.values().stream().map(Failure::line).sorted().toList();
    }
}
