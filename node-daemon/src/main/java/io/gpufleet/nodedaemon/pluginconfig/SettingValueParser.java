package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Parses NVIDIA's values, which are the same in its file and in its environment variables. An invalid value is an
 * {@link IllegalArgumentException} that lists the valid ones; the caller adds the position.
 */
final class SettingValueParser {
    private static final String PREFIX = "nvidia.com/";
    private static final int MAX_REPLICAS = 1000;

    private SettingValueParser() {}

    static MigStrategy migStrategy(String value) {
        return enumConstant(MigStrategy.values(), value);
    }

    static DeviceIdStrategy deviceIdStrategy(String value) {
        return enumConstant(DeviceIdStrategy.values(), value);
    }

    static ReplicaAllocationPolicy replicaPolicy(String value) {
        return enumConstant(ReplicaAllocationPolicy.values(), value);
    }

    private static <E extends Enum<E>> E enumConstant(E[] all, String value) {
        return Arrays.stream(all)
                .filter(one -> one.name().toLowerCase(Locale.ROOT).equals(value))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("it takes "
                        + Arrays.stream(all)
                                .map(one -> one.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "))));
    }

    static Set<DeviceListStrategy> deviceListStrategies(List<String> values) {
        var strategies = EnumSet.noneOf(DeviceListStrategy.class);
        for (String value : values) {
            strategies.add(DeviceListStrategy.of(value)
                    .orElseThrow(() -> new IllegalArgumentException("it takes "
                            + Arrays.stream(DeviceListStrategy.values())
                                    .map(DeviceListStrategy::value)
                                    .collect(Collectors.joining(", "))
                            + "; several separated by commas")));
        }
        return strategies;
    }

    /** Parses the booleans of YAML 1.1 and of Go. */
    static boolean bool(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true", "yes", "on", "t", "y", "1" -> true;
            case "false", "no", "off", "f", "n", "0" -> false;
            default -> throw new IllegalArgumentException("it takes true or false");
        };
    }

    static Set<Integer> xids(List<String> values) {
        var codes = new TreeSet<Integer>();
        for (String value : values) {
            if (!value.matches("\\d{1,5}")) {
                throw new IllegalArgumentException("it takes numbers of XIDs, or all");
            }
            codes.add(Integer.parseInt(value));
        }
        return codes;
    }

    /** Accepts channel 0 only, the only one that NVIDIA's software uses. */
    static boolean imexChannel(List<String> channels) {
        if (!channels.isEmpty() && !channels.equals(List.of("0"))) {
            throw new IllegalArgumentException("it takes 0, or nothing");
        }
        return !channels.isEmpty();
    }

    static int replicas(String value) {
        int replicas = value.matches("\\d{1,4}") ? Integer.parseInt(value) : 0;
        if (replicas < 2 || replicas > MAX_REPLICAS) {
            throw new IllegalArgumentException("it takes 2 to " + MAX_REPLICAS + "; remove the entry for no sharing");
        }
        return replicas;
    }

    /** Adds NVIDIA's domain if it is missing, like NVIDIA's plugin. */
    static String resource(String value) {
        String name = value.startsWith(PREFIX) ? value : PREFIX + value;
        if (!name.matches("nvidia\\.com/[A-Za-z0-9]([-A-Za-z0-9_.]{0,50}[A-Za-z0-9])?")) {
            throw new IllegalArgumentException(
                    "it takes the name of a resource, for example " + ResourcePlan.GPU + " or nvidia.com/mig-1g.5gb");
        }
        return name;
    }

    static int count(String value) {
        if (!value.matches("[1-9]\\d{0,3}")) {
            throw new IllegalArgumentException("it takes a positive number");
        }
        return Integer.parseInt(value);
    }

    static String directory(String value) {
        if (!value.startsWith("/")) {
            throw new IllegalArgumentException("it takes an absolute path of a directory on the host");
        }
        return value;
    }

    /** Splits at commas, without empty values. */
    static List<String> list(String values) {
        return Arrays.stream(values.split(",", -1))
                .map(String::strip)
                .filter(value -> !value.isEmpty())
                .toList();
    }
}
