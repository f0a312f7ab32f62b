package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.NvmlSession.Tracked;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads which processes compute on a GPU and on its MIG instances; whose they are, NVML does not know. */
record ProcessReader(Nvml nvml) {
    private static final int USUAL = 32;
    /** Processes may come between two calls, but not for ever. */
    private static final int ATTEMPTS = 4;
    /** No entry ends with such a byte. */
    private static final byte UNTOUCHED = 0x5A;

    private interface Query {
        int into(int[] count, ByteBuffer processes);
    }

    /** What a process runs on: it may be on several instances of a GPU. */
    private record Place(int pid, String deviceUuid) {}

    /** NVML tells of clients of MPS apart from all others. */
    Reading<List<ComputeProcess>> read(Tracked gpu) {
        NvmlLibrary library = nvml.library();
        long device = gpu.device().address();
        Map<Place, ComputeProcess> found = new LinkedHashMap<>();
        int code = add(
                gpu,
                found,
                (count, into) -> library.nvmlDeviceGetComputeRunningProcesses_v3(device, count, into),
                (count, into) -> library.nvmlDeviceGetComputeRunningProcesses_v2(device, count, into));
        if (code != NvmlConstants.SUCCESS) {
            return new Unavailable<>(ReturnCode.name(code));
        }
        int clients = add(
                gpu,
                found,
                (count, into) -> library.nvmlDeviceGetMPSComputeRunningProcesses_v3(device, count, into),
                (count, into) -> library.nvmlDeviceGetMPSComputeRunningProcesses_v2(device, count, into));
        return switch (clients) {
            case NvmlConstants.SUCCESS, NvmlConstants.NOT_SUPPORTED, NvmlConstants.FUNCTION_NOT_FOUND ->
                new Known<>(List.copyOf(found.values()));
            default -> new Unavailable<>(ReturnCode.name(clients));
        };
    }

    private static int add(Tracked gpu, Map<Place, ComputeProcess> found, Query query, Query older) {
        int[] count = {USUAL};
        int code = NvmlConstants.INSUFFICIENT_SIZE;
        for (int i = 0; i < ATTEMPTS && code == NvmlConstants.INSUFFICIENT_SIZE; i++) {
            int room = Math.max(USUAL, count[0]) + i * USUAL;
            count[0] = room;
            ByteBuffer processes = Nvml.struct(room * NvmlLayout.PROCESS_LONG_SIZE);
            Arrays.fill(processes.array(), UNTOUCHED);
            code = Nvml.code(() -> query.into(count, processes), () -> older.into(count, processes));
            if (code == NvmlConstants.SUCCESS) {
                int told = Math.min(room, count[0]);
                int size = size(processes, told);
                for (int at = 0; at < told; at++) {
                    ComputeProcess process = process(gpu, processes, at * size, size);
                    found.putIfAbsent(new Place(process.pid(), process.deviceUuid()), process);
                }
            }
        }
        return code;
    }

    /**
     * How long an entry is. Drivers of the 535 line write one field more under the same name, one of 550 was seen to write two
     * less; only what they wrote tells.
     */
    private static int size(ByteBuffer processes, int told) {
        int written = processes.capacity();
        while (written > 0 && processes.get(written - 1) == UNTOUCHED) {
            written--;
        }
        if (written == told * NvmlLayout.PROCESS_LONG_SIZE) {
            return NvmlLayout.PROCESS_LONG_SIZE;
        }
        return written == told * NvmlLayout.PROCESS_SHORT_SIZE
                ? NvmlLayout.PROCESS_SHORT_SIZE
                : NvmlLayout.PROCESS_SIZE;
    }

    private static ComputeProcess process(Tracked gpu, ByteBuffer processes, int at, int size) {
        long bytes = processes.getLong(at + NvmlLayout.PROCESS_MEMORY);
        return new ComputeProcess(
                processes.getInt(at + NvmlLayout.PROCESS_PID),
                size == NvmlLayout.PROCESS_SHORT_SIZE
                        ? device(gpu, NvmlConstants.NO_INSTANCE, NvmlConstants.NO_INSTANCE)
                        : device(
                                gpu,
                                processes.getInt(at + NvmlLayout.PROCESS_GPU_INSTANCE),
                                processes.getInt(at + NvmlLayout.PROCESS_COMPUTE_INSTANCE)),
                bytes == NvmlConstants.MEMORY_NOT_AVAILABLE ? new Unavailable<>("NOT_AVAILABLE") : new Known<>(bytes),
                ComputeProcess.NOT_ASKED);
    }

    /** On a partitioned GPU everybody is on some instance, told or not. */
    private static String device(Tracked gpu, int gpuInstance, int computeInstance) {
        return gpuInstance == NvmlConstants.NO_INSTANCE && gpu.slices().isEmpty()
                ? gpu.gpu().uuid()
                : gpu.migUuid(gpuInstance, computeInstance);
    }
}
