package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.HealthReadings.FabricState;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/** Reads the state of the NVLink fabric that a GPU belongs to. */
record FabricReader(Nvml nvml) {
    /** State of the fabric; unavailable where the GPU belongs to none. */
    Reading<FabricState> state(Nvml.Handle device) {
        return switch (info(device)) {
            case Unavailable<ByteBuffer>(String reason) -> new Unavailable<>(reason);
            case Known<ByteBuffer>(ByteBuffer info) ->
                switch (info.get(NvmlLayout.FABRIC_STATE)) {
                    case NvmlConstants.FABRIC_STATE_NOT_STARTED -> new Known<>(FabricState.NOT_STARTED);
                    case NvmlConstants.FABRIC_STATE_IN_PROGRESS -> new Known<>(FabricState.IN_PROGRESS);
                    case NvmlConstants.FABRIC_STATE_COMPLETED ->
                        new Known<>(info.getInt(NvmlLayout.FABRIC_STATUS) == 0 ? FabricState.UP : FabricState.FAILED);
                    default -> new Unavailable<>("no fabric, state " + info.get(NvmlLayout.FABRIC_STATE));
                };
        };
    }

    /** Clique of the GPU as {@code <cluster UUID>.<clique id>}; available once the fabric is up. */
    Reading<String> clique(Nvml.Handle device) {
        return switch (info(device)) {
            case Unavailable<ByteBuffer>(String reason) -> new Unavailable<>(reason);
            case Known<ByteBuffer>(ByteBuffer info) -> clique(info);
        };
    }

    private static Reading<String> clique(ByteBuffer info) {
        int status = info.getInt(NvmlLayout.FABRIC_STATUS);
        if (info.get(NvmlLayout.FABRIC_STATE) != NvmlConstants.FABRIC_STATE_COMPLETED || status != 0) {
            return new Unavailable<>("fabric not up, state " + info.get(NvmlLayout.FABRIC_STATE) + ", status "
                    + NvmlReturnCode.name(status));
        }
        // The 16 bytes are in the order in which a UUID is written, not in native byte order.
        ByteBuffer written = info.duplicate().order(ByteOrder.BIG_ENDIAN);
        UUID cluster =
                new UUID(written.getLong(NvmlLayout.FABRIC_CLUSTER), written.getLong(NvmlLayout.FABRIC_CLUSTER + 8));
        return cluster.equals(new UUID(0, 0))
                ? new Unavailable<>("not attached to a fabric of several nodes")
                : new Known<>(cluster + "." + Integer.toUnsignedString(info.getInt(NvmlLayout.FABRIC_CLIQUE)));
    }

    private Reading<ByteBuffer> info(Nvml.Handle device) {
        ByteBuffer info = Nvml.struct(NvmlLayout.FABRIC_SIZE)
                .putInt(NvmlLayout.FABRIC_VERSION, NvmlLayout.version(NvmlLayout.FABRIC_SIZE, 2));
        return Nvml.reading(
                Nvml.code(() -> nvml.library().nvmlDeviceGetGpuFabricInfoV(device.address(), info)), () -> info);
    }
}
