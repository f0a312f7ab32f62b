package io.gpufleet.nodedaemon.model.polls;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * A counter that may rise, but not by more than so much in a minute.
 *
 * @param what the things counted, in the plural
 * @param counter reads it
 * @param limit the rise in a minute that is still nothing
 * @param samples oldest first; the oldest is about a minute old once there was time for it
 */
record Rate(String what, Function<Vitals, Reading<Long>> counter, ToLongFunction<Vitals> limit, List<Sample> samples)
        implements Rule {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    /** Polls may come quicker than this, after a fault or by the operator's wish; more samples would tell no more. */
    private static final Duration APART = Duration.ofSeconds(5);

    /** What the counter said then. */
    record Sample(long nanos, long count) {}

    Rate {
        samples = List.copyOf(samples);
    }

    static Rule of(String what, Function<Vitals, Reading<Long>> counter, ToLongFunction<Vitals> limit) {
        return new Rate(what, counter, limit, List.of());
    }

    @Override
    public Said next(Vitals vitals, Moment now) {
        return switch (counter.apply(vitals)) {
            case Reading.Unavailable<Long> _ -> new Said(this, new Word.Mute());
            case Reading.Known<Long>(Long count) -> {
                List<Sample> window = window(count, now);
                yield new Said(
                        new Rate(what, counter, limit, window), word(window, count, limit.applyAsLong(vitals), now));
            }
        };
    }

    private List<Sample> window(long count, Moment now) {
        var window = new ArrayList<>(samples);
        if (!window.isEmpty() && count < window.getLast().count()) {
            window.clear();
        }
        if (window.isEmpty() || now.since(window.getLast().nanos()).compareTo(APART) >= 0) {
            window.add(new Sample(now.nanos(), count));
        }
        while (window.size() > 1 && now.since(window.get(1).nanos()).compareTo(WINDOW) >= 0) {
            window.removeFirst();
        }
        return window;
    }

    private Word word(List<Sample> window, long count, long most, Moment now) {
        Sample oldest = window.getFirst();
        long rise = count - oldest.count();
        if (rise > most) {
            return new Word.Stands(what + " rose by " + rise + " in "
                    + now.since(oldest.nanos()).toSeconds() + " s, " + most + " a minute are nothing");
        }
        boolean whole = now.since(oldest.nanos()).compareTo(WINDOW) >= 0;
        return whole ? new Word.Over(what + " rise by no more than " + most + " a minute") : new Word.Unclear();
    }
}
