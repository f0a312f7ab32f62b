package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;

/** Judges one aspect of a GPU over its polls. Immutable: a poll returns the next rule. */
interface FaultRule {
    /** Returns the rule after a poll, and its result. */
    Evaluation evaluate(GpuSample sample, Moment now);

    /** The rule after a poll, and its result. */
    record Evaluation(FaultRule next, FaultRuleResult result) {}
}
