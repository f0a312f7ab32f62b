package io.gpufleet.inventory.model.label;

import java.util.Arrays;
import java.util.Optional;

/** Labels that are enabled and disabled together. */
public enum LabelGroup {
    /** Everything that NVIDIA's GPU feature discovery sets, under {@code nvidia.com/}. */
    GFD("gfd"),
    /** {@code gpu-type=a100}. */
    GPU_TYPE("gpu-type"),
    /** {@code gpu-memory=80Gi}. */
    GPU_MEMORY("gpu-memory"),
    /** {@code accelerator=nvidia-tesla-v100}. */
    ACCELERATOR("accelerator"),
    /** {@code alpha.kubernetes.io/nvidia-gpu-name=Tesla-V100-SXM2-16GB}. */
    ALPHA_NAME("alpha-name"),
    /** {@code gpufleet.io/models}: all models of the node. */
    MODELS("models"),
    /** {@code gpufleet.io/driver-installer=ready}: state of the driver installer. */
    DRIVER_INSTALLER("driver-installer");

    private final String configName;

    LabelGroup(String configName) {
        this.configName = configName;
    }

    /** Name of the group in {@code GPUFLEET_LABELS}. */
    public String configName() {
        return configName;
    }

    /** The group of that name, if there is one. */
    public static Optional<LabelGroup> byConfigName(String name) {
        return Arrays.stream(values())
                .filter(group -> group.configName.equals(name))
                .findFirst();
    }
}
