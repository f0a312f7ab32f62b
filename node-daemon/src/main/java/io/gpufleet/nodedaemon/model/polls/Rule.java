package io.gpufleet.nodedaemon.model.polls;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Vitals;

/** Judges one thing over the polls of one GPU; immutable, so that the rule after a poll is another one. */
interface Rule {
    /** The rule after a poll, and what it says. */
    Said next(Vitals vitals, Moment now);

    /** A rule after a poll, and its word. */
    record Said(Rule rule, Word word) {}
}
