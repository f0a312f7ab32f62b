package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import java.time.Duration;
import java.util.function.BiFunction;

/**
 * Fires once several consecutive polls over a minimum time agree. Polls follow each other quickly after a fault, so their
 * number alone proves nothing.
 *
 * @param check judges one poll: Firing, Inactive, Pending or NoData
 * @param polls how many consecutive polls, at least 1
 * @param span minimum time from the first of them to the newest
 * @param consecutive consecutive polls so far
 * @param sinceNanos time of the first of them
 */
record SustainedRule(
        BiFunction<GpuSample, Moment, FaultRuleResult> check,
        int polls,
        Duration span,
        int consecutive,
        long sinceNanos)
        implements FaultRule {
    /** Makes a rule that has counted no poll. */
    static FaultRule immediate(BiFunction<GpuSample, Moment, FaultRuleResult> single) {
        return new SustainedRule(single, 1, Duration.ZERO, 0, 0);
    }

    static FaultRule after(int polls, Duration span, BiFunction<GpuSample, Moment, FaultRuleResult> single) {
        return new SustainedRule(single, polls, span, 0, 0);
    }

    @Override
    public Evaluation evaluate(GpuSample sample, Moment now) {
        FaultRuleResult result = check.apply(sample, now);
        return switch (result) {
            case FaultRuleResult.Firing _, FaultRuleResult.Occurred _ -> {
                var longer = new SustainedRule(
                        check, polls, span, consecutive + 1, consecutive == 0 ? now.nanos() : sinceNanos);
                yield new Evaluation(longer, longer.isSustained(now) ? result : new FaultRuleResult.Inconclusive());
            }
            case FaultRuleResult.Inactive _ -> new Evaluation(new SustainedRule(check, polls, span, 0, 0), result);
            case FaultRuleResult.Inconclusive _, FaultRuleResult.NoData _ -> new Evaluation(this, result);
        };
    }

    private boolean isSustained(Moment now) {
        return consecutive >= polls && now.since(sinceNanos).compareTo(span) >= 0;
    }
}
