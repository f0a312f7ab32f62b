package io.gpufleet.nodedaemon.model.polls;

import java.util.List;
import java.util.stream.Collectors;

/** What a rule says after a poll. */
public sealed interface Word {
    /** It happened since the poll before; each time is news. */
    record Happened(String message) implements Word {}

    /** It is so; news when it begins. */
    record Stands(String message) implements Word {}

    /** It may be so, this poll can not tell: what stood before stands. */
    record Unclear() implements Word {}

    /** It is not so. */
    record Over(String proof) implements Word {}

    /** The GPU does not say. */
    record Mute() implements Word {}

    /** What several rules about one kind of fault say together: the worst of them, and an end only where all agree. */
    static Word together(List<Word> words) {
        var happened = texts(words, Happened.class, Happened::message);
        if (!happened.isEmpty()) {
            return new Happened(happened);
        }
        var stands = texts(words, Stands.class, Stands::message);
        if (!stands.isEmpty()) {
            return new Stands(stands);
        }
        if (words.stream().anyMatch(Unclear.class::isInstance)) {
            return new Unclear();
        }
        var over = texts(words, Over.class, Over::proof);
        return over.isEmpty() ? new Mute() : new Over(over);
    }

    private static <W extends Word> String texts(
            List<Word> words, Class<W> type, java.util.function.Function<W, String> text) {
        return words.stream().filter(type::isInstance).map(type::cast).map(text).collect(Collectors.joining("; "));
    }
}
