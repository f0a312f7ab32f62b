package io.gpufleet.nodedaemon;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What the program can be told to do. */
enum Command {
    /** The daemon. */
    RUN("", List.of()),
    /** What the devices say of themselves. */
    PROBE("", List.of(Option.JSON)),
    /** What is wrong with this node. */
    DOCTOR("", List.of(Option.JSON)),
    /** What the devices say, kept in a file. */
    RECORD(
            "FILE",
            List.of(
                    new Option("--for", "TIME", "how long, for example 30s, 10m or 1h [10m]"),
                    new Option("--every", "TIME", "how often the devices are asked how they are [5s]"),
                    new Option("--anonymous", "", "write other UUIDs and serial numbers in place of the real ones")));

    private final String operand;
    private final List<Option> options;

    /**
     * An option.
     *
     * @param value what stands behind it; empty for one that stands alone
     * @param about one sentence
     */
    record Option(String name, String value, String about) {
        static final Option JSON = new Option("--json", "", "print JSON in place of a table");
    }

    Command(String operand, List<Option> options) {
        this.operand = operand;
        this.options = options;
    }

    /** As it is written on the command line. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What must follow the command; empty where nothing may. */
    String operand() {
        return operand;
    }

    List<Option> options() {
        return options;
    }

    static Optional<Command> of(String word) {
        return Arrays.stream(values())
                .filter(command -> command.word().equals(word))
                .findFirst();
    }
}
