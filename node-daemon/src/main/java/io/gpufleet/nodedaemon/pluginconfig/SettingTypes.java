package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The types of settings; NVIDIA's values are the same in its file and in its environment variables. */
final class SettingTypes {
    static final String DOMAIN = "nvidia.com/";
    private static final int MAX_REPLICAS = 1000;

    static final SettingType<String> TEXT = SettingType.single("text", Optional::of);

    /** The booleans of YAML 1.1 and of Go. */
    static final SettingType<Boolean> BOOL =
            SettingType.single("true or false", value -> switch (value.toLowerCase(Locale.ROOT)) {
                case "true", "yes", "on", "t", "y", "1" -> Optional.of(true);
                case "false", "no", "off", "f", "n", "0" -> Optional.of(false);
                default -> Optional.empty();
            });

    static final SettingType<String> DIRECTORY = SettingType.single(
            "an absolute path of a directory on the host",
            value -> Optional.of(value).filter(path -> path.startsWith("/")));

    static final SettingType<Integer> COUNT = SettingType.single(
            "a positive number",
            value -> Optional.of(value)
                    .filter(number -> number.matches("[1-9]\\d{0,3}"))
                    .map(Integer::valueOf));

    static final SettingType<Integer> REPLICAS = SettingType.single(
            "2 to " + MAX_REPLICAS + "; remove the entry for no sharing",
            value -> Optional.of(value)
                    .filter(number -> number.matches("\\d{1,4}"))
                    .map(Integer::valueOf)
                    .filter(replicas -> replicas >= 2 && replicas <= MAX_REPLICAS));

    /** Adds NVIDIA's domain if it is missing, like NVIDIA's plugin. */
    static final SettingType<String> RESOURCE = SettingType.single(
            "the name of a resource, for example " + ResourcePlan.GPU + " or nvidia.com/mig-1g.5gb",
            value -> Optional.of(value.startsWith(DOMAIN) ? value : DOMAIN + value)
                    .filter(name -> name.matches("nvidia\\.com/[A-Za-z0-9]([-A-Za-z0-9_.]{0,50}[A-Za-z0-9])?")));

    static final SettingType<Set<DeviceListStrategy>> STRATEGIES = SettingType.list(
            Arrays.stream(DeviceListStrategy.values())
                            .map(DeviceListStrategy::value)
                            .collect(Collectors.joining(", "))
                    + "; several separated by commas",
            SettingTypes::strategies);

    /** {@code all} is passed on as it is, and {@code xids}, which NVIDIA's plugin has for the same. */
    static final SettingType<List<String>> XIDS = SettingType.list(
            "numbers of XIDs, or all",
            values -> Optional.of(values)
                    .filter(codes -> codes.contains("all")
                            || codes.contains("xids")
                            || codes.stream().allMatch(code -> code.matches("\\d{1,5}"))));

    /** Channel 0 only, the only one that NVIDIA's software uses; true where it is named. */
    static final SettingType<Boolean> IMEX_CHANNELS = SettingType.list(
            "0, or nothing",
            channels ->
                    Optional.of(!channels.isEmpty()).filter(_ -> channels.isEmpty() || channels.equals(List.of("0"))));

    static final SettingType<DeviceSelector> DEVICES = new SettingType<>(
            "all, a count, or a list of GPU indices, MIG indices such as 0:1, and UUIDs", true, SettingTypes::devices);

    private SettingTypes() {}

    /** The constants of an enum, by their names in lower case. */
    static <E extends Enum<E>> SettingType<E> oneOf(E[] all) {
        return SettingType.single(
                Arrays.stream(all).map(SettingTypes::name).collect(Collectors.joining(", ")),
                value -> Arrays.stream(all)
                        .filter(one -> name(one).equals(value))
                        .findFirst());
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static Optional<Set<DeviceListStrategy>> strategies(List<String> values) {
        var strategies = EnumSet.noneOf(DeviceListStrategy.class);
        boolean all = values.stream()
                .map(DeviceListStrategy::of)
                .peek(strategy -> strategy.ifPresent(strategies::add))
                .allMatch(Optional::isPresent);
        return Optional.<Set<DeviceListStrategy>>of(strategies).filter(_ -> all);
    }

    private static Optional<DeviceSelector> devices(SettingType.SettingText text) {
        List<String> values = text.values();
        if (!text.isSequence() && values.equals(List.of("all"))) {
            return Optional.of(new DeviceSelector.All());
        }
        if (!text.isSequence() && values.size() == 1 && values.getFirst().matches("[1-9]\\d{0,3}")) {
            return Optional.of(new DeviceSelector.First(Integer.parseInt(values.getFirst())));
        }
        return Optional.<DeviceSelector>of(new DeviceSelector.Listed(new LinkedHashSet<>(values)))
                .filter(_ -> text.isSequence()
                        && !values.isEmpty()
                        && values.stream().allMatch(value -> value.matches("\\d{1,4}(:\\d{1,2})?|(GPU|MIG)-.+")));
    }
}
