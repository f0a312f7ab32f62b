package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Fires when a counter rises faster than a limit per minute.
 *
 * @param what name of the counted things, in the plural
 * @param counter reads it
 * @param limit the rise per minute that is still normal
 * @param samples oldest first; the oldest is about a minute old once polls cover a minute
 */
record CounterRateRule(
        String what,
        Function<GpuSample, Reading<Long>> counter,
        ToLongFunction<GpuSample> limit,
        List<CounterSample> samples)
        implements FaultRule {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    /** Polls may be more frequent, after a fault or by configuration; further samples add no information. */
    private static final Duration MIN_SAMPLE_INTERVAL = Duration.ofSeconds(5);

    /** The counter's value at a time. */
    record CounterSample(long nanos, long count) {}

    CounterRateRule {
        samples = List.copyOf(samples);
    }

    static FaultRule of(String what, Function<GpuSample, Reading<Long>> counter, ToLongFunction<GpuSample> limit) {
        return new CounterRateRule(what, counter, limit, List.of());
    }

    @Override
    public Evaluation evaluate(GpuSample sample, Moment now) {
        return switch (counter.apply(sample)) {
            case Reading.Unavailable<Long> _ -> new Evaluation(this, new FaultRuleResult.NoData());
            case Reading.Known<Long>(Long count) -> {
                List<CounterSample> window = window(count, now);
                yield new Evaluation(
                        new CounterRateRule(what, counter, limit, window),
                        result(window, count, limit.applyAsLong(sample), now));
            }
        };
    }

    private List<CounterSample> window(long count, Moment now) {
        var window = new ArrayList<>(samples);
        if (!window.isEmpty() && count < window.getLast().count()) {
            window.clear();
        }
        if (window.isEmpty() || now.since(window.getLast().nanos()).compareTo(MIN_SAMPLE_INTERVAL) >= 0) {
            window.add(new CounterSample(now.nanos(), count));
        }
        while (window.size() > 1 && now.since(window.get(1).nanos()).compareTo(WINDOW) >= 0) {
            window.removeFirst();
        }
        return window;
    }

    private FaultRuleResult result(List<CounterSample> window, long count, long most, Moment now) {
        CounterSample oldest = window.getFirst();
        long rise = count - oldest.count();
        if (rise > most) {
            return new FaultRuleResult.Firing(what + " rose by " + rise + " in "
                    + now.since(oldest.nanos()).toSeconds() + " s, up to " + most + " a minute are normal");
        }
        boolean whole = now.since(oldest.nanos()).compareTo(WINDOW) >= 0;
        return whole
                ? new FaultRuleResult.Inactive(what + " rise by no more than " + most + " a minute")
                : new FaultRuleResult.Inconclusive();
    }
}
