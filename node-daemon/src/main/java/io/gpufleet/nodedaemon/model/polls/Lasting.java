package io.gpufleet.nodedaemon.model.polls;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.function.BiFunction;

/**
 * Something that single polls tell, and that counts once so many polls in a row told it over so long a time. Polls come
 * in quick succession after a fault, so the number alone proves nothing.
 *
 * @param single what one poll says: Stands, Over, Unclear or Mute
 * @param polls how many in a row, at least 1
 * @param span from the first of them to the newest
 * @param seen how many there were
 * @param sinceNanos the first of them
 */
record Lasting(BiFunction<Vitals, Moment, Word> single, int polls, Duration span, int seen, long sinceNanos)
        implements Rule {
    /** Counts from the first poll that tells it. */
    static Rule atOnce(BiFunction<Vitals, Moment, Word> single) {
        return new Lasting(single, 1, Duration.ZERO, 0, 0);
    }

    static Rule after(int polls, Duration span, BiFunction<Vitals, Moment, Word> single) {
        return new Lasting(single, polls, span, 0, 0);
    }

    @Override
    public Said next(Vitals vitals, Moment now) {
        Word word = single.apply(vitals, now);
        return switch (word) {
            case Word.Stands _, Word.Happened _ -> {
                var longer = new Lasting(single, polls, span, seen + 1, seen == 0 ? now.nanos() : sinceNanos);
                yield new Said(longer, longer.lasts(now) ? word : new Word.Unclear());
            }
            case Word.Over _ -> new Said(new Lasting(single, polls, span, 0, 0), word);
            case Word.Unclear _, Word.Mute _ -> new Said(this, word);
        };
    }

    private boolean lasts(Moment now) {
        return seen >= polls && now.since(sinceNanos).compareTo(span) >= 0;
    }
}
