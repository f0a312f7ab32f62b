package io.gpufleet.health.app;

import io.gpufleet.health.model.HealthMachine;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The policy in force. Another text replaces it once it can be read; until then the former one stays, and that is said. */
public final class CurrentPolicy implements Supplier<HealthMachine> {
    private static final Logger LOG = LoggerFactory.getLogger(CurrentPolicy.class);

    /** Makes a machine of a policy text; an exception has one line for people. */
    @FunctionalInterface
    public interface PolicyParser {
        /** The machine of this text. */
        HealthMachine parse(String text);
    }

    private final PolicyParser parser;
    private volatile HealthMachine machine;
    private volatile String text;
    private volatile String problem = "";

    /** The first text has to be readable. */
    public CurrentPolicy(String text, PolicyParser parser) {
        this.parser = parser;
        this.text = text;
        this.machine = parser.parse(text);
    }

    @Override
    public HealthMachine get() {
        return machine;
    }

    /** Reads a text that may have changed. */
    public void reload(Supplier<String> newest) {
        try {
            String read = newest.get();
            if (!read.equals(text)) {
                machine = parser.parse(read);
                text = read;
                LOG.atInfo().log("policy replaced");
            }
            problem = "";
        } catch (RuntimeException unusable) {
            String line = String.valueOf(unusable.getMessage());
            if (!line.equals(problem)) {
                problem = line;
                LOG.atWarn().addKeyValue("reason", line).log("policy not replaced, the former one stays in force");
            }
        }
    }

    /** Why the newest text is not in force, one line; empty when it is. */
    public List<String> problems() {
        return problem.isEmpty() ? List.of() : List.of("policy: " + problem);
    }
}
