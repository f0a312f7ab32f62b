package io.gpufleet.health.model;

/**
 * What a policy says of one fault.
 *
 * @param name for example {@code xid-79}; with the policy's name it is what a decision refers to
 * @param effect what the fault is worth
 * @param step what is due
 */
public record Rule(String name, FaultClass effect, NextStep step) {
    /** The one that is worth more; the first where they are equal. */
    public Rule orWorse(Rule other) {
        return other.effect.compareTo(effect) > 0 ? other : this;
    }
}
