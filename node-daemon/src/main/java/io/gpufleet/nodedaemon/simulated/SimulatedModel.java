package io.gpufleet.nodedaemon.simulated;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** GPU models that can be simulated, with the figures that real boards report. */
enum SimulatedModel {
    V100("Tesla V100-SXM2-16GB", "volta", "7.0", 16_384, "88.00.4F.00.09"),
    T4("Tesla T4", "turing", "7.5", 15_360, "90.04.38.00.03"),
    A100("NVIDIA A100-SXM4-40GB", "ampere", "8.0", 40_960, "92.00.45.00.03"),
    L40S("NVIDIA L40S", "ada-lovelace", "8.9", 46_068, "95.02.66.00.02"),
    H100("NVIDIA H100 80GB HBM3", "hopper", "9.0", 81_559, "96.00.74.00.01"),
    H200("NVIDIA H200", "hopper", "9.0", 143_771, "96.00.A5.00.01"),
    B200("NVIDIA B200", "blackwell", "10.0", 183_359, "97.00.62.00.02");

    private final String product;
    private final String family;
    private final String computeCapability;
    private final long memoryMib;
    private final String vbios;

    SimulatedModel(String product, String family, String computeCapability, long memoryMib, String vbios) {
        this.product = product;
        this.family = family;
        this.computeCapability = computeCapability;
        this.memoryMib = memoryMib;
        this.vbios = vbios;
    }

    /** The model of a short name, in any case. */
    static Optional<SimulatedModel> named(String shortName) {
        return Arrays.stream(values())
                .filter(model -> model.name().equalsIgnoreCase(shortName))
                .findFirst();
    }

    /** Names of all models, for messages. */
    static String known() {
        return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
    }

    String product() {
        return product;
    }

    String family() {
        return family;
    }

    String computeCapability() {
        return computeCapability;
    }

    long memoryBytes() {
        return memoryMib << 20;
    }

    String vbios() {
        return vbios;
    }

    boolean migCapable() {
        return switch (this) {
            case V100, T4, L40S -> false;
            case A100, H100, H200, B200 -> true;
        };
    }

    /** Streaming multiprocessors of one of the seven MIG slices; 0 without MIG. */
    int multiprocessorsPerSlice() {
        return switch (this) {
            case V100, T4, L40S -> 0;
            case A100 -> 14;
            case H100, H200 -> 16;
            case B200 -> 18;
        };
    }

    /** NVLinks to NVSwitches; those of V100 go to its peers. */
    int switchLinks() {
        return switch (this) {
            case V100, T4, L40S -> 0;
            case A100 -> 12;
            case H100, H200, B200 -> 18;
        };
    }

    int pcieGeneration() {
        return switch (this) {
            case V100, T4 -> 3;
            case A100, L40S -> 4;
            case H100, H200, B200 -> 5;
        };
    }

    /** Power limit of the board. */
    int watts() {
        return switch (this) {
            case T4 -> 70;
            case V100 -> 300;
            case L40S -> 350;
            case A100 -> 400;
            case H100, H200 -> 700;
            case B200 -> 1000;
        };
    }

    int smClockMhz() {
        return switch (this) {
            case A100 -> 1410;
            case V100 -> 1530;
            case T4 -> 1590;
            case B200 -> 1965;
            case H100, H200 -> 1980;
            case L40S -> 2520;
        };
    }

    int memoryClockMhz() {
        return switch (this) {
            case V100 -> 877;
            case A100 -> 1215;
            case H100 -> 2619;
            case H200 -> 3201;
            case B200 -> 3996;
            case T4 -> 5001;
            case L40S -> 9001;
        };
    }
}
