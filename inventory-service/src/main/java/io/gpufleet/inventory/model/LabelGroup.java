package io.gpufleet.inventory.model;

import java.util.Arrays;
import java.util.Optional;

/** Labels that can be switched on and off together. */
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
    /** {@code gpufleet.io/models}: every model of the node. */
    MODELS("models");

    private final String word;

    LabelGroup(String word) {
        this.word = word;
    }

    /** The word in {@code GPUFLEET_LABELS}. */
    public String word() {
        return word;
    }

    /** The group that a word names. */
    public static Optional<LabelGroup> byWord(String word) {
        return Arrays.stream(values()).filter(group -> group.word.equals(word)).findFirst();
    }
}
