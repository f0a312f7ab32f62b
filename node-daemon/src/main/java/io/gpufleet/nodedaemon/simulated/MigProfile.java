package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.model.device.MigInstance;
import java.util.List;
import java.util.Optional;

/**
 * A MIG profile.
 *
 * @param name for example {@code 3g.20gb}
 * @param computeSlices number of 7
 * @param memorySlices number of 8
 * @param media whether it has media engines, which small instances lack
 */
record MigProfile(String name, int computeSlices, int memorySlices, boolean media) {
    private static final List<MigProfile> A100 = all("5", "10", "20", "40");
    private static final List<MigProfile> H100 = all("10", "20", "40", "80");
    private static final List<MigProfile> H200 = all("18", "35", "71", "141");
    private static final List<MigProfile> B200 = all("23", "45", "90", "180");

    private static List<MigProfile> all(String eighth, String quarter, String half, String whole) {
        return List.of(
                new MigProfile("1g." + eighth + "gb", 1, 1, false),
                new MigProfile("1g." + eighth + "gb+me", 1, 1, true),
                new MigProfile("1g." + quarter + "gb", 1, 2, false),
                new MigProfile("2g." + quarter + "gb", 2, 2, false),
                new MigProfile("3g." + half + "gb", 3, 4, false),
                new MigProfile("4g." + half + "gb", 4, 4, false),
                new MigProfile("7g." + whole + "gb", 7, 8, true));
    }

    /** Profiles of a model; none where it does not support MIG. */
    static List<MigProfile> of(SimulatedModel model) {
        return switch (model) {
            case V100, T4, L40S -> List.of();
            case A100 -> A100;
            case H100 -> H100;
            case H200 -> H200;
            case B200 -> B200;
        };
    }

    /** The profile of a name. */
    static Optional<MigProfile> of(SimulatedModel model, String name) {
        return of(model).stream().filter(profile -> profile.name.equals(name)).findFirst();
    }

    /** Attributes of an instance; engines as on an A100. */
    MigInstance.Attributes attributes(SimulatedModel model) {
        int decoders = switch (computeSlices) {
            case 1 -> media ? 1 : 0;
            case 2 -> 1;
            case 3, 4 -> 2;
            default -> 5;
        };
        return new MigInstance.Attributes(
                model.memoryBytes() / 8 * memorySlices,
                model.multiprocessorsPerSlice() * computeSlices,
                new MigInstance.Slices(computeSlices, computeSlices),
                new MigInstance.Engines(computeSlices, decoders, 0, media ? 1 : 0, media ? 1 : 0));
    }
}
