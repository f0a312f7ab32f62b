package io.gpufleet.compose.cluster;

import io.gpufleet.kit.config.ConfigurationException;
import java.util.List;
import java.util.Locale;

/** From what a person calls a model to what its nodes are labelled. */
final class Products {
    private Products() {}

    /** The one product that is, or whose dash-separated words contain, the model; refuses none and several. */
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
                    + (products.isEmpty() ? "no labelled GPU nodes yet" : String.join(", ", products)));
        }
        return found.getFirst();
    }
}
