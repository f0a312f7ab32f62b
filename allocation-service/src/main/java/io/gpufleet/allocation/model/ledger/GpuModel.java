package io.gpufleet.allocation.model.ledger;

import java.util.List;

/**
 * GPUs of one model on a node.
 *
 * @param model product name as NVML has it, for example {@code NVIDIA A100-SXM4-80GB}
 * @param uuids UUIDs of the GPUs, sorted; empty in states of earlier releases
 */
public record GpuModel(String model, String shortModel, int gpus, List<String> uuids) {
    /** Copies, sorted. */
    public GpuModel {
        uuids = uuids.stream().sorted().toList();
    }

    /** GPUs whose UUIDs are not known. */
    public GpuModel(String model, String shortModel, int gpus) {
        this(model, shortModel, gpus, List.of());
    }

    /** The product name as labels have it. */
    public String product() {
        return model.replace(' ', '-');
    }
}
