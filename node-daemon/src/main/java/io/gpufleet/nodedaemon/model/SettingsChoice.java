package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Which settings hold on this node, by the GPUs that it has: those of the first rule that fits.
 *
 * @param rules in their order
 * @param otherwise what holds where none fits
 */
public record SettingsChoice(List<Rule> rules, Chosen otherwise) {
    /** Settings, and where they come from: a file, a label, the environment. */
    public record Chosen(PluginSettings settings, String origin) {}

    /**
     * Settings for nodes with certain GPUs.
     *
     * @param model pattern with {@code *} and {@code ?} that the name of every GPU must match, the short one or the
     *     product's; empty: any
     * @param gpus how many GPUs the node must have; 0: any number
     */
    public record Rule(String model, int gpus, Chosen chosen) {
        /** Whether it holds on a node with these GPUs; without a condition it always does. */
        boolean fits(List<KnownGpu> known) {
            boolean models = model.isEmpty()
                    || !known.isEmpty()
                            && known.stream()
                                    .map(KnownGpu::gpu)
                                    .allMatch(gpu -> like(model, gpu.shortModel()) || like(model, gpu.model()));
            return models && (gpus == 0 || gpus == known.size());
        }
    }

    /** Copies the list. */
    public SettingsChoice {
        rules = List.copyOf(rules);
    }

    /** The same settings whatever the node has. */
    public static SettingsChoice always(PluginSettings settings, String origin) {
        return new SettingsChoice(List.of(), new Chosen(settings, origin));
    }

    /** What holds on a node with these GPUs; one that is lost still counts. */
    public Chosen on(List<KnownGpu> known) {
        return rules.stream()
                .filter(rule -> rule.fits(known))
                .map(Rule::chosen)
                .findFirst()
                .orElse(otherwise);
    }

    /** Whether a word matches a pattern with {@code *} and {@code ?}; case does not matter. */
    public static boolean like(String pattern, String word) {
        var regex = new StringBuilder();
        for (char c : pattern.toCharArray()) {
            switch (c) {
                case '*' -> regex.append(".*");
                case '?' -> regex.append('.');
                default -> regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(regex.toString(), Pattern.CASE_INSENSITIVE)
                .matcher(word)
                .matches();
    }
}
