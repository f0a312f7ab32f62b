package io.gpufleet.health.kafka;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Values of an enum of the bus and of the model that have the same name but for a prefix. They are paired once: a state of eight
 * devices has dozens of them.
 */
final class EnumPairs<W extends Enum<W>, M extends Enum<M>> {
    private final Map<W, M> models;
    private final Map<M, W> wires;
    private final M otherwise;

    private EnumPairs(Class<W> wire, Class<M> model, M otherwise) {
        this.models = new EnumMap<>(wire);
        this.wires = new EnumMap<>(model);
        this.otherwise = otherwise;
    }

    /**
     * The pairs of two enums.
     *
     * @param otherwise what a value of the bus means that has no pair
     */
    static <W extends Enum<W>, M extends Enum<M>> EnumPairs<W, M> of(
            Class<W> wire, String prefix, Class<M> model, M otherwise) {
        var pairs = new EnumPairs<>(wire, model, otherwise);
        for (M value : model.getEnumConstants()) {
            for (W named : wire.getEnumConstants()) {
                if (named.name().equals(prefix + value.name())) {
                    pairs.models.put(named, value);
                    pairs.wires.put(value, named);
                }
            }
        }
        return pairs;
    }

    M model(W value) {
        return Objects.requireNonNullElse(models.get(value), otherwise);
    }

    /** Throws where the bus has no value of that name. */
    W wire(M value) {
        @Nullable W named = wires.get(value);
        if (named == null) {
            throw new IllegalArgumentException("the bus has no value for " + value);
        }
        return named;
    }
}
