package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Progress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls the projection for keys whose time has come; a key that fails is left out for a minute. */
final class Ticker<S> {
    private static final Logger LOG = LoggerFactory.getLogger(Ticker.class);
    private static final Duration PENALTY = Duration.ofMinutes(1);
    /** Stands for a failure that belongs to no key. */
    private static final String ALL = "@due";

    private record Failure(Instant until, String reason) {}

    private final EngineParts<S> parts;
    private final StateStore<S> store;
    private final Progress progress;
    private final Map<String, Failure> failed = new HashMap<>();
    /** Keys of the newest batch. */
    private Set<String> newest = Set.of();

    Ticker(EngineParts<S> parts, StateStore<S> store, Progress progress) {
        this.parts = parts;
        this.store = store;
        this.progress = progress;
    }

    /** Every key that is due, into one batch. */
    void tick(Instant now, Batch batch) {
        newest = due(now, batch);
        for (String key : newest) {
            tick(key, now, batch);
        }
    }

    /**
     * Every key that is due, and those of the newest batch, which was undone, each in a batch of its own. What cannot be encoded
     * is left out like a tick that fails.
     */
    <R> void tickOneByOne(
            Instant now, Function<Batch, List<R>> encode, Runnable undo, BiConsumer<Batch, List<R>> commit) {
        Set<String> keys = new LinkedHashSet<>(newest);
        newest = Set.of();
        keys.addAll(due(now, new Batch()));
        for (String key : keys) {
            var batch = new Batch();
            tick(key, now, batch);
            List<R> records = List.of();
            try {
                records = encode.apply(batch);
            } catch (RuntimeException unwritable) {
                undo.run();
                batch = new Batch();
                batch.count.failedTicks.incrementAndGet();
                fail(key, InputReceiver.reason(unwritable), now);
            }
            commit.accept(batch, records);
        }
    }

    private Set<String> due(Instant now, Batch batch) {
        failed.values().removeIf(failure -> failure.until().isBefore(now));
        Set<String> keys = new LinkedHashSet<>(store.woken(now));
        if (!failed.containsKey(ALL)) {
            try {
                keys.addAll(parts.projection().due(store, progress, now));
            } catch (RuntimeException broken) {
                batch.count.failedTicks.incrementAndGet();
                fail(ALL, InputReceiver.reason(broken), now);
            }
        }
        keys.removeAll(failed.keySet());
        return keys;
    }

    private void tick(String key, Instant now, Batch batch) {
        try {
            Effects<S> effects = parts.projection().tick(key, store, now);
            store.apply(effects);
            batch.ofTime(effects);
        } catch (RuntimeException broken) {
            batch.count.failedTicks.incrementAndGet();
            fail(key, InputReceiver.reason(broken), now);
        }
    }

    private void fail(String key, String reason, Instant now) {
        LOG.atError().addKeyValue("node", key).addKeyValue("reason", reason).log("tick failed, left out for a minute");
        failed.put(key, new Failure(now.plus(PENALTY), reason));
    }

    /** A line for each key that is left out now. */
    List<String> failures() {
        if (failed.isEmpty()) {
            return List.of();
        }
        return new TreeMap<>(failed)
                .entrySet().stream()
                        .map(entry -> "timers of '" + entry.getKey() + "' failed: "
                                + entry.getValue().reason())
                        .toList();
    }
}
