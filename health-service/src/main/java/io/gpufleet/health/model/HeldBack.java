package io.gpufleet.health.model;

import java.time.Instant;

/**
 * A withdrawal or a taint that the policy asks for and that is not carried out.
 *
 * @param since append time of the event that asked for it
 * @param by what holds it back: {@code mode observe}, or a budget
 */
public record HeldBack(Instant since, String by) {
    /** Reason in mode observe. */
    public static final String OBSERVE = "mode observe";

    /** True in mode observe. */
    public boolean observed() {
        return by.equals(OBSERVE);
    }
}
