package io.gpufleet.nodedaemon.model.settings;

import io.gpufleet.nodedaemon.model.device.KnownGpu;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Selects the settings of this node by its GPUs: those of the first rule that matches.
 *
 * @param rules in their order
 * @param fallback settings when no rule matches
 */
public record SettingsSelector(List<Rule> rules, SelectedSettings fallback) {
    /** Settings, and their origin: a file, a label, the environment. */
    public record SelectedSettings(PluginSettings settings, String origin) {}

    /**
     * Settings for nodes with certain GPUs.
     *
     * @param model pattern with {@code *} and {@code ?} that the name of every GPU must match, the short one or the
     *     product's; empty: any
     * @param gpus how many GPUs the node must have; 0: any number
     */
    public record Rule(String model, int gpus, SelectedSettings selected) {
        /** Whether the rule matches a node with these GPUs; without a condition it always does. */
        boolean matches(List<KnownGpu> known) {
            boolean models = model.isEmpty()
                    || !known.isEmpty()
                            && known.stream()
                                    .map(KnownGpu::gpu)
                                    .allMatch(gpu ->
                                            globMatches(model, gpu.product().shortModel())
                                                    || globMatches(model, gpu.model()));
            return models && (gpus == 0 || gpus == known.size());
        }
    }

    /** Copies the list. */
    public SettingsSelector {
        rules = List.copyOf(rules);
    }

    /** Returns a selector of the same settings for every node. */
    public static SettingsSelector fixed(PluginSettings settings, String origin) {
        return new SettingsSelector(List.of(), new SelectedSettings(settings, origin));
    }

    /** Selects the settings of a node with these GPUs; a lost one still counts. */
    public SelectedSettings select(List<KnownGpu> known) {
        return rules.stream()
                .filter(rule -> rule.matches(known))
                .map(Rule::selected)
                .findFirst()
                .orElse(fallback);
    }

    /** Whether a text matches a pattern with {@code *} and {@code ?}; case does not matter. */
    public static boolean globMatches(String pattern, String result) {
        var regex = new StringBuilder();
        for (char c : pattern.toCharArray()) {
            switch (c) {
                case '*' -> regex.append(".*");
                case '?' -> regex.append('.');
                default -> regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(regex.toString(), Pattern.CASE_INSENSITIVE)
                .matcher(result)
                .matches();
    }
}
