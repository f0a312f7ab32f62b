package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Reports every increase of a counter as an occurrence. A lower value is a reset of the GPU, which is none.
 *
 * @param what name of the counted things, in the plural
 * @param counter reads it
 * @param last the previous reading; empty at first
 */
record CounterIncreaseRule(String what, Function<GpuSample, Reading<Long>> counter, OptionalLong last)
        implements FaultRule {
    static FaultRule of(String what, Function<GpuSample, Reading<Long>> counter) {
        return new CounterIncreaseRule(what, counter, OptionalLong.empty());
    }

    @Override
    public Evaluation evaluate(GpuSample sample, Moment now) {
        return switch (counter.apply(sample)) {
            case Reading.Unavailable<Long> _ -> new Evaluation(this, new FaultRuleResult.NoData());
            case Reading.Known<Long>(Long count) ->
                new Evaluation(new CounterIncreaseRule(what, counter, OptionalLong.of(count)), result(count));
        };
    }

    private FaultRuleResult result(long count) {
        if (last.isEmpty()) {
            return new FaultRuleResult.Inconclusive();
        }
        return count > last.getAsLong()
                ? new FaultRuleResult.Occurred(what + " rose from " + last.getAsLong() + " to " + count)
                : new FaultRuleResult.Inactive("no further " + what);
    }
}
