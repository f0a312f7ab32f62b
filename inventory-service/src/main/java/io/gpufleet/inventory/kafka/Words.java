package io.gpufleet.inventory.kafka;

import java.util.EnumMap;
import java.util.Map;

/**
 * A closed set on the wire and the same in the model; what the other side does not know becomes its "unknown".
 *
 * @param <W> the generated enum
 * @param <M> the model's enum
 */
final class Words<W extends Enum<W>, M extends Enum<M>> {
    private final Map<W, M> toModel;
    private final Map<M, W> toWire;
    private final W unknownWire;
    private final M unknownModel;

    private Words(W unknownWire, M unknownModel) {
        this.unknownWire = unknownWire;
        this.unknownModel = unknownModel;
        this.toModel = new EnumMap<>(unknownWire.getDeclaringClass());
        this.toWire = new EnumMap<>(unknownModel.getDeclaringClass());
    }

    /** Begins with the pair that stands for everything else. */
    static <W extends Enum<W>, M extends Enum<M>> Words<W, M> unknown(W wire, M model) {
        return new Words<>(wire, model).and(wire, model);
    }

    Words<W, M> and(W wire, M model) {
        toModel.put(wire, model);
        toWire.put(model, wire);
        return this;
    }

    M model(W wire) {
        return toModel.getOrDefault(wire, unknownModel);
    }

    W wire(M model) {
        return toWire.getOrDefault(model, unknownWire);
    }
}
