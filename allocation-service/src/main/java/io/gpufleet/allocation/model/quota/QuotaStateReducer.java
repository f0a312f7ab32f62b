package io.gpufleet.allocation.model.quota;

import java.util.List;

/** Makes the next {@link QuotaState}; nothing else does. */
public final class QuotaStateReducer {
    private QuotaStateReducer() {}

    /** The state after the events. A batch copies what it changes once, so many events are applied best together. */
    public static QuotaState apply(QuotaState state, List<? extends QuotaEvent> events) {
        if (events.isEmpty()) {
            return state;
        }
        var next = new MutableQuotaState(state);
        events.forEach(next::apply);
        return next.toState();
    }

    /**
     * The state with the models of every counted pod looked up again, if the index of models changed since; else the
     * same state. Needed before a decision or a count; too expensive for each of thousands of events.
     */
    public static QuotaState withCurrentModels(QuotaState state) {
        if (!state.totals().stale()) {
            return state;
        }
        var next = new MutableQuotaState(state);
        next.updateModels();
        return next.toState();
    }
}
