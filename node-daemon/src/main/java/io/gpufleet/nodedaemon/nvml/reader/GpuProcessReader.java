package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the compute processes of a GPU and its MIG instances; NVML does not know their owners. */
record GpuProcessReader(Nvml nvml) {
    private static final int INITIAL_CAPACITY = 32;
    /** Calls until the buffer is large enough; processes may start between two calls. */
    private static final int ATTEMPTS = 4;
    /** Marks bytes that NVML did not write; no entry ends with it. */
    private static final byte FILL_BYTE = 0x5A;

    private interface ProcessQuery {
        int call(int[] count, ByteBuffer processes);
    }

    /** A process on one device; it may run on several instances of a GPU. */
    private record ProcessOnDevice(int pid, String deviceUuid) {}

    /** Reads all processes; NVML lists MPS clients separately. */
    Reading<List<ComputeProcess>> read(ScannedGpu gpu) {
        long device = gpu.device().address();
        Map<ProcessOnDevice, ComputeProcess> found = new LinkedHashMap<>();
        int code = add(
                gpu,
                found,
                (count, into) -> nvml.library().nvmlDeviceGetComputeRunningProcesses_v3(device, count, into),
                (count, into) -> nvml.library().nvmlDeviceGetComputeRunningProcesses_v2(device, count, into));
        if (code != NvmlConstants.SUCCESS) {
            return new Unavailable<>(NvmlReturnCode.name(code));
        }
        int clients = add(
                gpu,
                found,
                (count, into) -> nvml.library().nvmlDeviceGetMPSComputeRunningProcesses_v3(device, count, into),
                (count, into) -> nvml.library().nvmlDeviceGetMPSComputeRunningProcesses_v2(device, count, into));
        return switch (clients) {
            case NvmlConstants.SUCCESS, NvmlConstants.NOT_SUPPORTED, NvmlConstants.FUNCTION_NOT_FOUND ->
                new Known<>(List.copyOf(found.values()));
            default -> new Unavailable<>(NvmlReturnCode.name(clients));
        };
    }

    private static int add(
            ScannedGpu gpu, Map<ProcessOnDevice, ComputeProcess> found, ProcessQuery query, ProcessQuery older) {
        int[] count = {INITIAL_CAPACITY};
        int code = NvmlConstants.INSUFFICIENT_SIZE;
        for (int i = 0; i < ATTEMPTS && code == NvmlConstants.INSUFFICIENT_SIZE; i++) {
            int capacity = Math.max(INITIAL_CAPACITY, count[0]) + i * INITIAL_CAPACITY;
            count[0] = capacity;
            ByteBuffer processes = Nvml.struct(capacity * NvmlLayout.PROCESS_LONG_SIZE);
            Arrays.fill(processes.array(), FILL_BYTE);
            code = Nvml.code(() -> query.call(count, processes), () -> older.call(count, processes));
            if (code == NvmlConstants.SUCCESS) {
                int entries = Math.min(capacity, count[0]);
                int size = size(processes, entries);
                for (int at = 0; at < entries; at++) {
                    ComputeProcess process = process(gpu, processes, at * size, size);
                    found.putIfAbsent(new ProcessOnDevice(process.pid(), process.deviceUuid()), process);
                }
            }
        }
        return code;
    }

    /**
     * Size of an entry, found by what NVML wrote: under the same function name, drivers of the 535 line write one field more and
     * one of 550 was seen to write two fewer.
     */
    private static int size(ByteBuffer processes, int entries) {
        int written = processes.capacity();
        while (written > 0 && processes.get(written - 1) == FILL_BYTE) {
            written--;
        }
        if (written == entries * NvmlLayout.PROCESS_LONG_SIZE) {
            return NvmlLayout.PROCESS_LONG_SIZE;
        }
        return written == entries * NvmlLayout.PROCESS_SHORT_SIZE
                ? NvmlLayout.PROCESS_SHORT_SIZE
                : NvmlLayout.PROCESS_SIZE;
    }

    private static ComputeProcess process(ScannedGpu gpu, ByteBuffer processes, int at, int size) {
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

    /** On a partitioned GPU every process is on an instance, whether NVML names it or not. */
    private static String device(ScannedGpu gpu, int gpuInstance, int computeInstance) {
        return gpuInstance == NvmlConstants.NO_INSTANCE && gpu.migInstances().isEmpty()
                ? gpu.gpu().uuid()
                : gpu.migUuid(gpuInstance, computeInstance);
    }
}
