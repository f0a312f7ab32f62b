package io.gpufleet.nodedaemon.model.polls;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * A counter each rise of which is an event. A counter that falls counts from a new start of the GPU, which is no event.
 *
 * @param what the things counted, in the plural
 * @param counter reads it
 * @param last the reading before; empty at first
 */
record Rising(String what, Function<Vitals, Reading<Long>> counter, OptionalLong last) implements Rule {
    static Rule of(String what, Function<Vitals, Reading<Long>> counter) {
        return new Rising(what, counter, OptionalLong.empty());
    }

    @Override
    public Said next(Vitals vitals, Moment now) {
        return switch (counter.apply(vitals)) {
            case Reading.Unavailable<Long> _ -> new Said(this, new Word.Mute());
            case Reading.Known<Long>(Long count) ->
                new Said(new Rising(what, counter, OptionalLong.of(count)), word(count));
        };
    }

    private Word word(long count) {
        if (last.isEmpty()) {
            return new Word.Unclear();
        }
        return count > last.getAsLong()
                ? new Word.Happened(what + " rose from " + last.getAsLong() + " to " + count)
                : new Word.Over("no more " + what);
    }
}
