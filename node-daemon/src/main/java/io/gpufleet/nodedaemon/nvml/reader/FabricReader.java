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
    private static final int DEGRADED_BANDWIDTH = 0;
    private static final int ROUTE_RECOVERY = 2;
    private static final int ROUTE_UNHEALTHY = 4;
    private static final int ACCESS_TIMEOUT_RECOVERY = 6;
    private static final int CONFIGURATION = 8;
    private static final int CONFIGURATION_CORRECT = 1;

    /** State of the fabric; unavailable where the GPU belongs to none. */
    Reading<FabricState> state(Nvml.Handle device) {
        return switch (info(device)) {
            case Unavailable<ByteBuffer>(String reason) -> new Unavailable<>(reason);
            case Known<ByteBuffer>(ByteBuffer info) ->
                switch (info.get(NvmlLayout.FABRIC_STATE)) {
                    case NvmlConstants.FABRIC_STATE_NOT_STARTED -> new Known<>(FabricState.NOT_STARTED);
                    case NvmlConstants.FABRIC_STATE_IN_PROGRESS -> new Known<>(FabricState.IN_PROGRESS);
                    case NvmlConstants.FABRIC_STATE_COMPLETED ->
                        new Known<>(info.getInt(NvmlLayout.FABRIC_STATUS) == 0 ? health(info) : FabricState.FAILED);
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

    /** The worst that the health mask says: two bits for each problem, of which 1 is true, and four of the configuration. */
    private static FabricState health(ByteBuffer info) {
        int mask = info.getInt(NvmlLayout.FABRIC_HEALTH);
        if (isTrue(mask, ROUTE_UNHEALTHY)) {
            return FabricState.ROUTE_UNHEALTHY;
        }
        if ((mask >> CONFIGURATION & 0xf) > CONFIGURATION_CORRECT) {
            return FabricState.MISCONFIGURED;
        }
        if (isTrue(mask, DEGRADED_BANDWIDTH)) {
            return FabricState.BANDWIDTH_DEGRADED;
        }
        return isTrue(mask, ROUTE_RECOVERY) || isTrue(mask, ACCESS_TIMEOUT_RECOVERY)
                ? FabricState.RECOVERING
                : FabricState.UP;
    }

    private static boolean isTrue(int mask, int shift) {
        return (mask >> shift & 0x3) == 1;
    }

    private Reading<ByteBuffer> info(Nvml.Handle device) {
        ByteBuffer info = Nvml.struct(NvmlLayout.FABRIC_SIZE)
                .putInt(NvmlLayout.FABRIC_VERSION, NvmlLayout.version(NvmlLayout.FABRIC_SIZE, 2));
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetGpuFabricInfoV(device.address(), info));
        return code == NvmlConstants.FUNCTION_NOT_FOUND || code == NvmlConstants.ARGUMENT_VERSION_MISMATCH
                ? firstVersion(device)
                : Nvml.reading(code, () -> info);
    }

    /** Fabric state of drivers before the second version, in its layout: without a health mask. */
    private Reading<ByteBuffer> firstVersion(Nvml.Handle device) {
        ByteBuffer first = Nvml.struct(NvmlLayout.FABRIC_V1_SIZE);
        return Nvml.reading(
                Nvml.code(() -> nvml.library().nvmlDeviceGetGpuFabricInfo(device.address(), first)),
                () -> Nvml.struct(NvmlLayout.FABRIC_SIZE).put(NvmlLayout.FABRIC_CLUSTER, first, 0, first.capacity()));
    }
}
