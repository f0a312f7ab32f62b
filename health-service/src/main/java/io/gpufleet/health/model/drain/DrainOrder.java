package io.gpufleet.health.model.drain;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which pods have to leave a node.
 *
 * @param mode which of its pods
 * @param devices UUIDs of the GPUs whose holders have to leave, sorted; empty where those of every GPU have to
 */
public record DrainOrder(DrainMode mode, List<String> devices) {
    /** No pod. */
    public static final DrainOrder NONE = new DrainOrder(DrainMode.NONE, List.of());

    /** Sorts the devices. */
    public DrainOrder {
        devices = devices.size() < 2
                ? List.copyOf(devices)
                : devices.stream().sorted().distinct().toList();
    }

    /** An order about the whole node. */
    public static DrainOrder ofNode(DrainMode mode) {
        return mode == DrainMode.NONE ? NONE : new DrainOrder(mode, List.of());
    }

    /** The pods that hold one GPU. */
    public static DrainOrder ofDevice(String device) {
        return new DrainOrder(DrainMode.GPU_PODS, List.of(device));
    }

    /** True when no pod has to leave. */
    public boolean isNone() {
        return mode == DrainMode.NONE;
    }

    /** True when the holders of every GPU have to leave, or every pod. */
    public boolean wholeNode() {
        return !isNone() && devices.isEmpty();
    }

    /** Both orders. */
    public DrainOrder and(DrainOrder other) {
        if (isNone() || other.isNone()) {
            return isNone() ? other : this;
        }
        if (wholeNode() || other.wholeNode()) {
            return ofNode(mode.orMore(other.mode));
        }
        SortedSet<String> both = new TreeSet<>(devices);
        both.addAll(other.devices);
        return new DrainOrder(mode.orMore(other.mode), List.copyOf(both));
    }

    /** One line for people, for example {@code pods that hold GPU-1}. */
    public String text() {
        return switch (mode) {
            case NONE -> "no pod";
            case ALL -> "every pod";
            case GPU_PODS ->
                devices.isEmpty() ? "pods that hold a GPU" : "pods that hold " + String.join(", ", devices);
        };
    }
}
