package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Fields of a GPU, all asked for by one call of nvmlDeviceGetFieldValues; each answers for itself. */
record Fields(Map<Ask, Reading<Long>> values) {
    private static final long UNSIGNED_INT = 0xffff_ffffL;
    private static final long UNSIGNED_SHORT = 0xffffL;

    /** A field, and of what: a link's number, all links, or 0 where it is of the whole GPU. */
    record Ask(int id, int scope) {}

    /** The fields of the whole GPU. */
    static Fields of(Nvml nvml, Nvml.Handle device, int... ids) {
        return of(nvml, device, IntStream.of(ids).mapToObj(id -> new Ask(id, 0)).toList());
    }

    static Fields of(Nvml nvml, Nvml.Handle device, List<Ask> asks) {
        ByteBuffer structs = Nvml.struct(NvmlLayout.FIELD_SIZE * asks.size());
        for (int i = 0; i < asks.size(); i++) {
            int at = i * NvmlLayout.FIELD_SIZE;
            structs.putInt(at + NvmlLayout.FIELD_ID, asks.get(i).id())
                    .putInt(at + NvmlLayout.FIELD_SCOPE, asks.get(i).scope());
        }
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetFieldValues(device.address(), asks.size(), structs));
        Map<Ask, Reading<Long>> values = new HashMap<>();
        for (int i = 0; i < asks.size(); i++) {
            int at = i * NvmlLayout.FIELD_SIZE;
            int own = code == NvmlConstants.SUCCESS ? structs.getInt(at + NvmlLayout.FIELD_RETURN) : code;
            values.put(asks.get(i), Nvml.reading(own, () -> value(structs, at)));
        }
        return new Fields(values);
    }

    /** Bytes that the type does not cover are not cleared by the driver. */
    private static long value(ByteBuffer structs, int at) {
        long raw = structs.getLong(at + NvmlLayout.FIELD_VALUE);
        return switch (structs.getInt(at + NvmlLayout.FIELD_TYPE)) {
            case NvmlConstants.VALUE_DOUBLE -> Math.round(structs.getDouble(at + NvmlLayout.FIELD_VALUE));
            case NvmlConstants.VALUE_UNSIGNED_INT -> raw & UNSIGNED_INT;
            case NvmlConstants.VALUE_SIGNED_INT -> (int) raw;
            case NvmlConstants.VALUE_UNSIGNED_SHORT -> raw & UNSIGNED_SHORT;
            default -> raw;
        };
    }

    /** A field of the whole GPU. */
    Reading<Long> of(int id) {
        return values.getOrDefault(new Ask(id, 0), new Unavailable<>("not asked for"));
    }

    /** The sum of all that could be read; unavailable where nothing could. */
    Reading<Long> sum() {
        List<Long> known = values.values().stream()
                .flatMap(value -> value.asOptional().stream())
                .toList();
        if (!known.isEmpty()) {
            return new Known<>(known.stream().mapToLong(Long::longValue).sum());
        }
        return values.values().stream().findAny().orElse(new Unavailable<>("not asked for"));
    }
}
