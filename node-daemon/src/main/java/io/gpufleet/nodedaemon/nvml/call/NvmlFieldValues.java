package io.gpufleet.nodedaemon.nvml.call;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Fields of a GPU, read by one call of nvmlDeviceGetFieldValues; each has a return code of its own. */
public record NvmlFieldValues(Map<NvmlFieldRequest, Reading<Long>> values) {
    private static final long UNSIGNED_INT = 0xffff_ffffL;
    private static final long UNSIGNED_SHORT = 0xffffL;

    /** A field and its scope: a link number, all links, or 0 for the whole GPU. */
    public record NvmlFieldRequest(int id, int scope) {}

    /** Reads fields of the whole GPU. */
    public static NvmlFieldValues of(Nvml nvml, Nvml.Handle device, int... ids) {
        return of(
                nvml,
                device,
                IntStream.of(ids).mapToObj(id -> new NvmlFieldRequest(id, 0)).toList());
    }

    public static NvmlFieldValues of(Nvml nvml, Nvml.Handle device, List<NvmlFieldRequest> requests) {
        ByteBuffer structs = Nvml.struct(NvmlLayout.FIELD_SIZE * requests.size());
        for (int i = 0; i < requests.size(); i++) {
            int at = i * NvmlLayout.FIELD_SIZE;
            structs.putInt(at + NvmlLayout.FIELD_ID, requests.get(i).id())
                    .putInt(at + NvmlLayout.FIELD_SCOPE, requests.get(i).scope());
        }
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetFieldValues(device.address(), requests.size(), structs));
        Map<NvmlFieldRequest, Reading<Long>> values = new HashMap<>();
        for (int i = 0; i < requests.size(); i++) {
            int at = i * NvmlLayout.FIELD_SIZE;
            int own = code == NvmlConstants.SUCCESS ? structs.getInt(at + NvmlLayout.FIELD_RETURN) : code;
            values.put(requests.get(i), Nvml.reading(own, () -> value(structs, at)));
        }
        return new NvmlFieldValues(values);
    }

    /** The value by its type; the driver does not clear the bytes that the type does not use. */
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
    public Reading<Long> of(int id) {
        return of(id, 0);
    }

    /** A field of a scope, for example of a link. */
    public Reading<Long> of(int id, int scope) {
        return values.getOrDefault(new NvmlFieldRequest(id, scope), new Unavailable<>("not read"));
    }

    /** Sum of those of the fields that could be read; unavailable where none could. */
    public Reading<Long> sum(List<NvmlFieldRequest> requests) {
        List<Reading<Long>> readings = requests.stream()
                .map(request -> of(request.id(), request.scope()))
                .toList();
        List<Long> known =
                readings.stream().flatMap(value -> value.asOptional().stream()).toList();
        if (!known.isEmpty()) {
            return new Known<>(known.stream().mapToLong(Long::longValue).sum());
        }
        return readings.stream().findFirst().orElse(new Unavailable<>("not read"));
    }
}
