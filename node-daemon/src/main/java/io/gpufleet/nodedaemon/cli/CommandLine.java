package io.gpufleet.nodedaemon.cli;

import io.gpufleet.kit.config.ClosestMatch;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The parsed command line. Parsed by hand, since a library would delay the daemon's start: see decision 3.
 *
 * @param command the command; {@code run} if none was given
 * @param commandGiven whether a command was given
 * @param help whether the manual page is requested
 * @param operand the operand; empty if the command takes none
 * @param options values by name; empty text for options without a value
 */
public record CommandLine(
        DaemonCommand command, boolean commandGiven, boolean help, String operand, Map<String, String> options) {
    private static final List<String> HELP = List.of("--help", "-h", "help");

    public CommandLine {
        options = Map.copyOf(options);
    }

    /** Parses arguments; an error is one line with the closest valid name. */
    public static CommandLine parse(String... arguments) {
        var remaining = new ArrayDeque<>(Arrays.asList(arguments));
        boolean help = remaining.removeIf(HELP::contains);
        boolean given = !remaining.isEmpty() && !remaining.element().startsWith("-");
        DaemonCommand command = given ? command(remaining.remove()) : DaemonCommand.RUN;
        var options = new TreeMap<String, String>();
        var operands = new ArrayDeque<String>();
        while (!remaining.isEmpty()) {
            String argument = remaining.remove();
            if (argument.startsWith("-")) {
                option(command, argument, remaining, options);
            } else {
                operands.add(argument);
            }
        }
        if (!help) {
            checkOperands(command, operands);
        }
        return new CommandLine(command, given, help, operands.isEmpty() ? "" : operands.element(), options);
    }

    private static DaemonCommand command(String name) {
        return DaemonCommand.of(name).orElseThrow(() -> {
            List<String> names = Arrays.stream(DaemonCommand.values())
                    .map(DaemonCommand::commandName)
                    .toList();
            return new ConfigurationException("'" + name + "' is not a command; did you mean "
                    + ClosestMatch.of(name, names) + "? 'node-daemon --help' lists all");
        });
    }

    private static void option(
            DaemonCommand command, String argument, Deque<String> rest, Map<String, String> options) {
        String[] parts = argument.split("=", 2);
        DaemonCommand.CommandOption option = command.options().stream()
                .filter(each -> each.name().equals(parts[0]))
                .findFirst()
                .orElseThrow(() -> unknownOption(command, parts[0]));
        if (option.placeholder().isEmpty()) {
            if (parts.length > 1) {
                throw new ConfigurationException(option.name() + " takes no value; remove '=" + parts[1] + "'");
            }
            options.put(option.name(), "");
            return;
        }
        Optional<String> value = parts.length > 1 ? Optional.of(parts[1]) : Optional.ofNullable(rest.poll());
        options.put(
                option.name(),
                value.orElseThrow(() ->
                        new ConfigurationException(option.name() + " requires a value: " + option.description())));
    }

    private static ConfigurationException unknownOption(DaemonCommand command, String name) {
        List<String> names = Stream.concat(
                        Stream.of("--help"), command.options().stream().map(DaemonCommand.CommandOption::name))
                .toList();
        return new ConfigurationException(name + " is not an option of " + command.commandName() + "; did you mean "
                + ClosestMatch.of(name, names) + "? 'node-daemon " + command.commandName() + " --help' lists all");
    }

    private static void checkOperands(DaemonCommand command, Deque<String> operands) {
        int expected = command.operand().isEmpty() ? 0 : 1;
        if (operands.size() > expected) {
            throw new ConfigurationException("'" + operands.getLast() + "' is an unexpected argument of "
                    + command.commandName() + "; see 'node-daemon " + command.commandName() + " --help'");
        }
        if (operands.size() < expected) {
            throw new ConfigurationException(command.commandName() + " requires a " + command.operand()
                    + "; for example 'node-daemon " + command.commandName() + " gpus.jsonl'");
        }
    }

    public boolean has(String option) {
        return options.containsKey(option);
    }

    /** The value of an option, or its default. */
    public String value(String option, String defaultValue) {
        return options.getOrDefault(option, defaultValue);
    }
}
