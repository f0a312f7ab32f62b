package io.gpufleet.nodedaemon.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The commands of the program. */
public enum DaemonCommand {
    /** Runs the daemon. */
    RUN("", List.of(new CommandOption("--version", "", "print the version and the commit of this build"))),
    /** Prints one scan and sample of the devices. */
    PROBE("", List.of(CommandOption.JSON)),
    /** Checks this node. */
    DOCTOR("", List.of(CommandOption.JSON)),
    /** Records the devices in a file. */
    RECORD(
            "FILE",
            List.of(
                    new CommandOption("--for", "TIME", "duration, for example 30s, 10m or 1h [10m]"),
                    new CommandOption("--every", "TIME", "sampling interval [5s]"),
                    new CommandOption("--anonymous", "", "replace UUIDs and serial numbers")));

    private final String operand;
    private final List<CommandOption> options;

    /**
     * An option.
     *
     * @param placeholder name of its value; empty for an option without a value
     * @param description one sentence
     */
    record CommandOption(String name, String placeholder, String description) {
        static final CommandOption JSON = new CommandOption("--json", "", "print JSON instead of a table");
    }

    DaemonCommand(String operand, List<CommandOption> options) {
        this.operand = operand;
        this.options = options;
    }

    /** Its name on the command line. */
    String commandName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Placeholder of the required operand; empty if the command takes none. */
    String operand() {
        return operand;
    }

    List<CommandOption> options() {
        return options;
    }

    static Optional<DaemonCommand> of(String name) {
        return Arrays.stream(values())
                .filter(command -> command.commandName().equals(name))
                .findFirst();
    }
}
