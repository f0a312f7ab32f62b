package io.gpufleet.nodedaemon.model;

/**
 * What a GPU says of its own fitness now; each reading may be unavailable by itself. What follows from it is decided
 * elsewhere.
 *
 * @param uncorrectableErrors uncorrectable memory errors since the driver was loaded
 * @param remapPending rows wait for a remap, done at the next reset
 * @param remapFailed a row could not be remapped
 * @param retirementPending pages wait for retirement, done at the next reset
 * @param pcieGeneration of the link now
 * @param pcieGenerationMost that GPU and slot can do
 * @param pcieWidth lanes of the link now
 * @param pcieWidthMost that GPU and slot can do
 * @param linksDown NVLinks that should be up and are not
 * @param linkErrors replay, recovery and CRC errors of all NVLinks since the driver was loaded
 * @param infoRomValid checksum of the InfoROM holds
 * @param fabric state of the NVLink fabric
 * @param powerReadable whether the power draw can be read; a board without a sensor is unavailable
 */
public record Conditions(
        Reading<Long> uncorrectableErrors,
        Reading<Boolean> remapPending,
        Reading<Boolean> remapFailed,
        Reading<Boolean> retirementPending,
        Reading<Integer> pcieGeneration,
        Reading<Integer> pcieGenerationMost,
        Reading<Integer> pcieWidth,
        Reading<Integer> pcieWidthMost,
        Reading<Integer> linksDown,
        Reading<Long> linkErrors,
        Reading<Boolean> infoRomValid,
        Reading<Fabric> fabric,
        Reading<Boolean> powerReadable) {
    /** State of the NVLink fabric (NVML's values 1 to 3). */
    public enum Fabric {
        /** Registration with the fabric has not begun. */
        NOT_STARTED,
        /** It is under way. */
        IN_PROGRESS,
        /** It ended well. */
        UP,
        /** It ended in an error. */
        FAILED
    }

    /** Nothing could be read, for one reason. */
    public static Conditions unavailable(String reason) {
        return new Conditions(
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason));
    }
}
