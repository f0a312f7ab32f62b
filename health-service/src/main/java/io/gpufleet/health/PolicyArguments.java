package io.gpufleet.health;

import io.gpufleet.health.kafka.HistoryReader;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Arguments of the policy commands.
 *
 * @param words command and operands
 * @param options values of {@code --NAME VALUE}, by name
 */
record PolicyArguments(List<String> words, Map<String, String> options) {
    private static final Pattern TIME = Pattern.compile("(\\d{1,4})([mhd])");
    private static final Map<String, String> DEFAULTS =
            Map.of("--policy", "nvidia", "--from", "7d", "--pools", "unlimited");

    static PolicyArguments of(String... arguments) {
        var words = new ArrayList<String>();
        var options = new TreeMap<>(DEFAULTS);
        for (int i = 0; i < arguments.length; i++) {
            if (!arguments[i].startsWith("--")) {
                words.add(arguments[i]);
            } else if (!DEFAULTS.containsKey(arguments[i])) {
                throw new ConfigurationException(
                        "'" + arguments[i] + "' is no option; there are --from, --policy and --pools");
            } else if (i + 1 == arguments.length) {
                throw new ConfigurationException(arguments[i] + " takes a value");
            } else {
                options.put(arguments[i], arguments[++i]);
            }
        }
        return new PolicyArguments(words, options);
    }

    String option(String name) {
        return options.getOrDefault(name, "");
    }

    /** How far a replay goes back. */
    Duration from() {
        Matcher time = TIME.matcher(option("--from"));
        if (!time.matches() || Long.parseLong(time.group(1)) == 0) {
            throw new ConfigurationException(
                    "--from '" + option("--from") + "' takes a time above zero such as 30m, 12h or 7d");
        }
        long amount = Long.parseLong(time.group(1));
        return switch (time.group(2)) {
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
        };
    }

    /** The fault of {@code xid 79}, {@code sxid 12028}, {@code gpu-lost} or {@code recovery-action node-reboot}. */
    FaultCode fault() {
        String kind = words.get(1);
        String number = words.size() > 2 ? words.get(2) : "";
        return switch (kind) {
            case "xid" -> FaultCode.xid(number(kind, number));
            case "sxid" -> new FaultCode(FaultKind.SXID, number(kind, number));
            case "recovery-action" -> FaultCode.recovery(constant(RecoveryAction.values(), "recovery-action", number));
            default -> FaultCode.of(constant(FaultKind.values(), "fault", kind));
        };
    }

    /** The id of {@code event ID}, of an event that the policy decides about; empty for a fault. */
    Optional<String> event() {
        if (!words.get(1).equals("event")) {
            return Optional.empty();
        }
        try {
            return Optional.of(HistoryReader.signalId(words.size() > 2 ? words.get(2) : ""));
        } catch (IllegalArgumentException wrong) {
            throw new ConfigurationException(String.valueOf(wrong.getMessage()));
        }
    }

    private static int number(String kind, String text) {
        if (!text.matches("\\d{1,9}")) {
            throw new ConfigurationException(kind + " '" + text + "' takes a number from 0 to 999999999, such as 79");
        }
        return Integer.parseInt(text);
    }

    private static <E extends Enum<E>> E constant(E[] values, String what, String text) {
        return Arrays.stream(values)
                .filter(value -> slug(value).equals(text))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(what + " '" + text + "' takes one of "
                        + Arrays.stream(values)
                                .map(PolicyArguments::slug)
                                .sorted()
                                .collect(Collectors.joining(", "))));
    }

    private static String slug(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
