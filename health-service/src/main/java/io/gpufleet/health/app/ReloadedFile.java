package io.gpufleet.health.app;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Value of the newest readable text of a file. Another text replaces it once it can be read; until then the former content
 * stays in force, and that is said.
 */
public final class ReloadedFile<T> implements Supplier<T> {
    private static final Logger LOG = LoggerFactory.getLogger(ReloadedFile.class);

    private final String name;
    private final Function<String, T> parser;
    private volatile T content;
    private volatile String text;
    private volatile String problem = "";

    /**
     * The first text has to be readable.
     *
     * @param name what the file holds, for people: {@code policy} or {@code pools}
     * @param parser its exceptions have one line for people
     */
    public ReloadedFile(String name, String text, Function<String, T> parser) {
        this.name = name;
        this.parser = parser;
        this.text = text;
        this.content = parser.apply(text);
    }

    @Override
    public T get() {
        return content;
    }

    /** Reads a text that may have changed. */
    public void reload(Supplier<String> newest) {
        try {
            String read = newest.get();
            if (!read.equals(text)) {
                content = parser.apply(read);
                text = read;
                LOG.atInfo().addKeyValue("file", name).log("file replaced");
            }
            problem = "";
        } catch (RuntimeException unusable) {
            String line = String.valueOf(unusable.getMessage());
            if (!line.equals(problem)) {
                problem = line;
                LOG.atWarn()
                        .addKeyValue("file", name)
                        .addKeyValue("reason", line)
                        .log("file not replaced, the former one stays in force");
            }
        }
    }

    /** Why the newest text is not in force, one line; empty when it is. */
    public List<String> problems() {
        return problem.isEmpty() ? List.of() : List.of(name + ": " + problem);
    }
}
