package io.gpufleet.inventory.kafka;

import java.util.EnumMap;
import java.util.Map;

/**
 * Maps an enum of the wire to an enum of the model and back; a constant without a pair becomes the unknown one.
 *
 * @param <W> enum of the wire
 * @param <M> enum of the model
 */
final class EnumMapping<W extends Enum<W>, M extends Enum<M>> {
    private final Map<W, M> toModel;
    private final Map<M, W> toWire;
    private final W unknownWire;
    private final M unknownModel;

    private EnumMapping(W unknownWire, M unknownModel) {
        this.unknownWire = unknownWire;
        this.unknownModel = unknownModel;
        this.toModel = new EnumMap<>(unknownWire.getDeclaringClass());
        this.toWire = new EnumMap<>(unknownModel.getDeclaringClass());
    }

    /** A mapping with the pair of unknown constants. */
    static <W extends Enum<W>, M extends Enum<M>> EnumMapping<W, M> unknown(W wire, M model) {
        return new EnumMapping<>(wire, model).and(wire, model);
    }

    EnumMapping<W, M> and(W wire, M model) {
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
