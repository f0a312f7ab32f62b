package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Nearest;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The words behind the program's name, understood. By hand, since the daemon starts through it: see decision 3.
 *
 * @param command what is to be done; {@code run} where nothing is said
 * @param named whether it was said
 * @param help whether only its manual page is asked for
 * @param operand what must follow the command; empty where nothing may
 * @param options values by name; empty text for those that stand alone
 */
record CommandLine(Command command, boolean named, boolean help, String operand, Map<String, String> options) {
    private static final List<String> HELP = List.of("--help", "-h", "help");

    CommandLine {
        options = Map.copyOf(options);
    }

    /** Refuses what it does not know in one line, with the nearest right word. */
    static CommandLine parse(String... arguments) {
        var words = new ArrayDeque<>(Arrays.asList(arguments));
        boolean help = words.removeIf(HELP::contains);
        boolean named = !words.isEmpty() && !words.element().startsWith("-");
        Command command = named ? command(words.remove()) : Command.RUN;
        var options = new TreeMap<String, String>();
        var operands = new ArrayDeque<String>();
        while (!words.isEmpty()) {
            String word = words.remove();
            if (word.startsWith("-")) {
                option(command, word, words, options);
            } else {
                operands.add(word);
            }
        }
        if (!help) {
            check(command, operands);
        }
        return new CommandLine(command, named, help, operands.isEmpty() ? "" : operands.element(), options);
    }

    private static Command command(String word) {
        return Command.of(word).orElseThrow(() -> {
            List<String> words =
                    Arrays.stream(Command.values()).map(Command::word).toList();
            return new ConfigurationException("'" + word + "' is not a command; did you mean " + Nearest.to(word, words)
                    + "? 'node-daemon --help' lists all");
        });
    }

    private static void option(Command command, String word, Deque<String> rest, Map<String, String> options) {
        String[] parts = word.split("=", 2);
        Command.Option option = command.options().stream()
                .filter(each -> each.name().equals(parts[0]))
                .findFirst()
                .orElseThrow(() -> unknown(command, parts[0]));
        if (option.value().isEmpty()) {
            if (parts.length > 1) {
                throw new ConfigurationException(option.name() + " takes no value; leave '=" + parts[1] + "' out");
            }
            options.put(option.name(), "");
            return;
        }
        Optional<String> value = parts.length > 1 ? Optional.of(parts[1]) : Optional.ofNullable(rest.poll());
        options.put(
                option.name(),
                value.orElseThrow(
                        () -> new ConfigurationException(option.name() + " wants a value: " + option.about())));
    }

    private static ConfigurationException unknown(Command command, String word) {
        List<String> names = Stream.concat(command.options().stream().map(Command.Option::name), Stream.of("--help"))
                .toList();
        return new ConfigurationException(word + " is not an option of " + command.word() + "; did you mean "
                + Nearest.to(word, names) + "? 'node-daemon " + command.word() + " --help' lists all");
    }

    private static void check(Command command, Deque<String> operands) {
        int wanted = command.operand().isEmpty() ? 0 : 1;
        if (operands.size() > wanted) {
            throw new ConfigurationException("'" + operands.getLast() + "' is one word too many for " + command.word()
                    + "; 'node-daemon " + command.word() + " --help' says what it takes");
        }
        if (operands.size() < wanted) {
            throw new ConfigurationException(command.word() + " wants a " + command.operand()
                    + "; for example 'node-daemon " + command.word() + " gpus.jsonl'");
        }
    }

    boolean has(String option) {
        return options.containsKey(option);
    }

    /** The value of an option, or its default. */
    String value(String option, String otherwise) {
        return options.getOrDefault(option, otherwise);
    }
}
