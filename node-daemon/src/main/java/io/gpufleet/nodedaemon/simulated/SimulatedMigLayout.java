package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * MIG layout of a simulated GPU:
 *
 * <pre>
 * layout = "empty" | group { "+" group }      empty: MIG mode without instances
 * group  = count "x" profile                  for example 1x3g.20gb+4x1g.5gb
 * </pre>
 *
 * @param enabled whether MIG mode is on
 * @param profiles profiles of the instances, in order
 */
record SimulatedMigLayout(boolean enabled, List<MigProfile> profiles) {
    /** MIG mode is off. */
    static final SimulatedMigLayout OFF = new SimulatedMigLayout(false, List.of());

    private static final String EMPTY = "empty";
    private static final int COMPUTE_SLICES = 7;
    private static final int MEMORY_SLICES = 8;
    private static final Pattern PART = Pattern.compile("(\\d)x(\\d+g\\.\\d+gb(?:\\+me)?)");
    private static final Pattern BETWEEN = Pattern.compile("\\+(?=\\dx)");

    SimulatedMigLayout {
        profiles = List.copyOf(profiles);
    }

    /** Parses a layout; throws {@link IllegalArgumentException} with the reason where the model cannot be partitioned so. */
    static SimulatedMigLayout parse(SimulatedModel model, String text) {
        if (MigProfile.of(model).isEmpty()) {
            throw new IllegalArgumentException("requests MIG on " + model + ", which has none");
        }
        if (text.equals(EMPTY)) {
            return new SimulatedMigLayout(true, List.of());
        }
        var profiles = new ArrayList<MigProfile>();
        for (String part : BETWEEN.split(text, -1)) {
            Matcher matcher = PART.matcher(part);
            Optional<MigProfile> profile =
                    matcher.matches() ? MigProfile.of(model, matcher.group(2)) : Optional.empty();
            if (profile.isEmpty()) {
                throw new IllegalArgumentException("has \"" + part
                        + "\" where <count>x<profile> is expected, profiles of "
                        + model + ": "
                        + MigProfile.of(model).stream().map(MigProfile::name).collect(Collectors.joining(", ")));
            }
            int count = Integer.parseInt(matcher.group(1));
            IntStream.range(0, count).forEach(_ -> profile.ifPresent(profiles::add));
        }
        int compute = profiles.stream().mapToInt(MigProfile::computeSlices).sum();
        int memory = profiles.stream().mapToInt(MigProfile::memorySlices).sum();
        if (compute > COMPUTE_SLICES || memory > MEMORY_SLICES) {
            throw new IllegalArgumentException("divides a GPU into " + compute + " compute and " + memory
                    + " memory slices, it has " + COMPUTE_SLICES + " and " + MEMORY_SLICES);
        }
        return new SimulatedMigLayout(true, profiles);
    }

    /** Instances of a GPU, the same in every start. */
    List<MigInstance> instances(SimulatedModel model, String gpuUuid, int minor) {
        return IntStream.range(0, profiles.size())
                .mapToObj(index -> instance(model, gpuUuid, minor, index))
                .toList();
    }

    private MigInstance instance(SimulatedModel model, String gpuUuid, int minor, int index) {
        MigProfile profile = profiles.get(index);
        int gpuInstance = index + 1;
        // Numbered as by the driver: two fixed nodes, then 15 GPU instances per GPU, each with 8 compute instances.
        int capability = 3 + minor * 135 + gpuInstance * 9;
        UUID uuid =
                UUID.nameUUIDFromBytes((gpuUuid + "/" + index + "/" + profile.name()).getBytes(StandardCharsets.UTF_8));
        return new MigInstance(
                "MIG-" + uuid,
                profile.name(),
                index,
                gpuInstance,
                0,
                profile.attributes(model),
                List.of("/dev/nvidia-caps/nvidia-cap" + capability, "/dev/nvidia-caps/nvidia-cap" + (capability + 1)),
                new Reading.Unavailable<>("not simulated"));
    }
}
