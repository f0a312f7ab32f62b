package io.gpufleet.nodedaemon.settings;

import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * NVIDIA's words, the same in its file and in its environment variables. A word that is none is answered with an
 * {@link IllegalArgumentException} that says which there are; the caller knows where it stood.
 */
final class Words {
    private static final String PREFIX = "nvidia.com/";
    private static final int MOST_REPLICAS = 1000;

    private Words() {}

    static MigStrategy mig(String word) {
        return constant(MigStrategy.values(), word);
    }

    static IdNames idNames(String word) {
        return constant(IdNames.values(), word);
    }

    static ReplicaOrder order(String word) {
        return constant(ReplicaOrder.values(), word);
    }

    private static <E extends Enum<E>> E constant(E[] all, String word) {
        return Arrays.stream(all)
                .filter(one -> one.name().toLowerCase(Locale.ROOT).equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("it takes "
                        + Arrays.stream(all)
                                .map(one -> one.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "))));
    }

    static Set<Strategy> strategies(List<String> words) {
        var strategies = EnumSet.noneOf(Strategy.class);
        for (String word : words) {
            strategies.add(Strategy.of(word)
                    .orElseThrow(() -> new IllegalArgumentException("it takes "
                            + Arrays.stream(Strategy.values())
                                    .map(Strategy::word)
                                    .collect(Collectors.joining(", "))
                            + "; several separated by commas")));
        }
        return strategies;
    }

    /** The words of YAML 1.1 and of Go. */
    static boolean flag(String word) {
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "true", "yes", "on", "t", "y", "1" -> true;
            case "false", "no", "off", "f", "n", "0" -> false;
            default -> throw new IllegalArgumentException("it takes true or false");
        };
    }

    static Set<Integer> xids(List<String> words) {
        var codes = new TreeSet<Integer>();
        for (String word : words) {
            if (!word.matches("\\d{1,5}")) {
                throw new IllegalArgumentException("it takes numbers of XIDs, or all");
            }
            codes.add(Integer.parseInt(word));
        }
        return codes;
    }

    /** Channel 0 is the only one that NVIDIA's software uses. */
    static boolean imexChannel(List<String> channels) {
        if (!channels.isEmpty() && !channels.equals(List.of("0"))) {
            throw new IllegalArgumentException("it takes 0, or nothing");
        }
        return !channels.isEmpty();
    }

    static int replicas(String word) {
        int replicas = word.matches("\\d{1,4}") ? Integer.parseInt(word) : 0;
        if (replicas < 2 || replicas > MOST_REPLICAS) {
            throw new IllegalArgumentException("it takes 2 to " + MOST_REPLICAS + "; leave the entry out for none");
        }
        return replicas;
    }

    /** With NVIDIA's domain where it has none, as NVIDIA's plugin reads it. */
    static String resource(String word) {
        String name = word.startsWith(PREFIX) ? word : PREFIX + word;
        if (!name.matches("nvidia\\.com/[A-Za-z0-9]([-A-Za-z0-9_.]{0,50}[A-Za-z0-9])?")) {
            throw new IllegalArgumentException(
                    "it takes the name of a resource, for example " + ResourcePlan.GPU + " or nvidia.com/mig-1g.5gb");
        }
        return name;
    }

    static int count(String word) {
        if (!word.matches("[1-9]\\d{0,3}")) {
            throw new IllegalArgumentException("it takes a number from 1 on");
        }
        return Integer.parseInt(word);
    }

    static String directory(String word) {
        if (!word.startsWith("/")) {
            throw new IllegalArgumentException("it takes a directory of the host, from / on");
        }
        return word;
    }

    /** Comma-separated words, without the empty ones. */
    static List<String> list(String words) {
        return Arrays.stream(words.split(",", -1))
                .map(String::strip)
                .filter(word -> !word.isEmpty())
                .toList();
    }
}
