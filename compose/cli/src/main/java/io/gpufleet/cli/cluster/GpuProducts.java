package io.gpufleet.cli.cluster;

import io.gpufleet.kit.config.ConfigurationException;
import java.util.List;
import java.util.Locale;

/** Resolves a model, for example H100, to the product label of its nodes. */
final class GpuProducts {
    private GpuProducts() {}

    /** The one product that equals the model or has it among its dash-separated words; none and several are errors. */
    static String match(String model, List<String> products) {
        if (products.contains(model)) {
            return model;
        }
        List<String> found = products.stream()
                .filter(product -> List.of(product.toLowerCase(Locale.ROOT).split("-", -1))
                        .contains(model.toLowerCase(Locale.ROOT)))
                .toList();
        if (found.size() != 1) {
            throw new ConfigurationException("--model '" + model + "' names "
                    + (found.isEmpty() ? "no model of this cluster" : "several models of this cluster") + "; it has "
                    + (products.isEmpty() ? "no labelled GPU nodes" : String.join(", ", products)));
        }
        return found.getFirst();
    }
}
