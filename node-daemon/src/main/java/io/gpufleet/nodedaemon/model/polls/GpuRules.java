package io.gpufleet.nodedaemon.model.polls;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Every rule about one GPU, by the kind of fault that it tells of. Why each is as it is stands in decision 13. */
final class GpuRules {
    private static final Duration LASTS = Duration.ofSeconds(20);
    private static final Duration FABRIC_UNFINISHED = Duration.ofMinutes(5);
    private static final int IN_A_ROW = 3;
    private static final int BUSY_PERCENT = 50;

    private static final long HW_SLOWDOWN = 0x8;
    private static final long HW_THERMAL = 0x40;
    private static final long HW_POWER_BRAKE = 0x80;

    /** Replays in a minute that DCGM takes for normal, for one lane, by PCIe generation from 1. */
    private static final double[] REPLAYS_A_LANE = {0.15, 0.3, 0.48, 0.96, 1.92, 3.84};

    /** Reasons why memory is not told that say nothing about the memory. */
    private static final Set<String> NOT_TOLD = Set.of(
            "NOT_SUPPORTED",
            "FUNCTION_NOT_FOUND",
            "NO_PERMISSION",
            "ARGUMENT_VERSION_MISMATCH",
            "UNINITIALIZED",
            "DRIVER_NOT_LOADED",
            "LIB_RM_VERSION_MISMATCH",
            "LIBRARY_NOT_FOUND",
            "HUNG",
            "INTERRUPTED",
            "DEPRECATED");

    private GpuRules() {}

    /** The rules at the start of a watch; NVLinks that are down before {@code quietUntilNanos} are still being trained. */
    static Map<Kind, List<Rule>> standard(long quietUntilNanos) {
        var rules = new EnumMap<Kind, List<Rule>>(Kind.class);
        memory(rules);
        links(rules, quietUntilNanos);
        board(rules);
        return rules;
    }

    private static void memory(Map<Kind, List<Rule>> rules) {
        rules.put(Kind.MEMORY_UNREADABLE, List.of(Lasting.atOnce((vitals, _) -> memory(vitals.memoryUsedBytes()))));
        rules.put(
                Kind.ECC_UNCORRECTABLE,
                List.of(Rising.of(
                        "uncorrectable ECC errors",
                        vitals -> vitals.conditions().uncorrectableErrors())));
        rules.put(
                Kind.ROW_REMAP,
                List.of(
                        flag(Conditions::remapFailed, "a row could not be remapped", "no remap failed"),
                        flag(
                                Conditions::remapPending,
                                "rows wait for a remap until the next reset",
                                "no remap is pending"),
                        flag(
                                Conditions::retirementPending,
                                "pages wait for retirement until the next reset",
                                "no retirement is pending")));
    }

    private static void links(Map<Kind, List<Rule>> rules, long quietUntilNanos) {
        rules.put(
                Kind.NVLINK,
                List.of(
                        Lasting.atOnce((vitals, now) -> links(vitals.conditions(), now.nanos() - quietUntilNanos < 0)),
                        Rate.of("NVLink errors", vitals -> vitals.conditions().linkErrors(), _ -> 0)));
        rules.put(
                Kind.PCIE,
                List.of(
                        Lasting.after(IN_A_ROW, LASTS, (vitals, _) -> pcieLink(vitals)),
                        Rate.of("PCIe replays", Vitals::pcieReplays, GpuRules::replays)));
        rules.put(
                Kind.FABRIC,
                List.of(
                        fabric(
                                1,
                                Duration.ZERO,
                                Set.of(Conditions.Fabric.FAILED),
                                "registration with the fabric failed"),
                        fabric(
                                2,
                                FABRIC_UNFINISHED,
                                Set.of(Conditions.Fabric.NOT_STARTED, Conditions.Fabric.IN_PROGRESS),
                                "registration with the fabric does not come to an end")));
    }

    private static void board(Map<Kind, List<Rule>> rules) {
        rules.put(
                Kind.THROTTLE,
                List.of(
                        throttled(HW_THERMAL, "clocks are held down by heat"),
                        throttled(HW_POWER_BRAKE, "clocks are held down by the power brake"),
                        throttled(HW_SLOWDOWN, "clocks are held down by the hardware")));
        rules.put(
                Kind.INFOROM,
                List.of(flag(
                        conditions -> conditions.infoRomValid().map(valid -> !valid),
                        "the InfoROM is corrupted",
                        "the InfoROM is valid")));
        rules.put(
                Kind.POWER_UNREADABLE,
                List.of(Lasting.after(
                        IN_A_ROW,
                        LASTS,
                        (vitals, _) -> judged(
                                vitals.conditions().powerReadable().map(readable -> !readable),
                                "the power draw can not be read",
                                "the power draw can be read"))));
    }

    private static Rule flag(Function<Conditions, Reading<Boolean>> reading, String trouble, String proof) {
        return Lasting.atOnce((vitals, _) -> judged(reading.apply(vitals.conditions()), trouble, proof));
    }

    private static Word judged(Reading<Boolean> bad, String trouble, String proof) {
        return switch (bad) {
            case Reading.Known<Boolean>(Boolean is) -> is ? new Word.Stands(trouble) : new Word.Over(proof);
            case Reading.Unavailable<Boolean> _ -> new Word.Mute();
        };
    }

    /** Whether a memory query alone fails; one that the board has not, or that we may not make, is no failure. */
    static Word memory(Reading<Long> bytes) {
        return switch (bytes) {
            case Reading.Known<Long> _ -> new Word.Over("the memory can be read");
            case Reading.Unavailable<Long>(String reason) ->
                !reason.matches("[A-Z0-9_]+") || NOT_TOLD.contains(reason)
                        ? new Word.Mute()
                        : new Word.Stands("the memory can not be read: " + reason);
        };
    }

    private static Word links(Conditions conditions, boolean freshlyBooted) {
        return switch (conditions.linksDown()) {
            case Reading.Unavailable<Integer> _ -> new Word.Mute();
            case Reading.Known<Integer>(Integer down) -> {
                boolean fabricIsUp = conditions.fabric().orElse(Conditions.Fabric.UP) == Conditions.Fabric.UP;
                if (down == 0) {
                    yield new Word.Over("all NVLinks are up");
                }
                yield freshlyBooted || !fabricIsUp ? new Word.Unclear() : new Word.Stands(down + " NVLinks are down");
            }
        };
    }

    /** An idle GPU lets its link run slowly to save power: only a loaded one tells. */
    private static Word pcieLink(Vitals vitals) {
        Conditions now = vitals.conditions();
        var known = List.of(now.pcieGeneration(), now.pcieGenerationMost(), now.pcieWidth(), now.pcieWidthMost());
        if (known.stream().anyMatch(Reading.Unavailable.class::isInstance)) {
            return new Word.Mute();
        }
        var is =
                "gen " + now.pcieGeneration().orElse(0) + " x" + now.pcieWidth().orElse(0);
        var can = "gen " + now.pcieGenerationMost().orElse(0) + " x"
                + now.pcieWidthMost().orElse(0);
        boolean full =
                now.pcieGeneration().orElse(0) >= now.pcieGenerationMost().orElse(0)
                        && now.pcieWidth().orElse(0) >= now.pcieWidthMost().orElse(0);
        if (full) {
            return new Word.Over("the PCIe link runs at " + is);
        }
        return vitals.gpuUtilizationPercent().orElse(0) >= BUSY_PERCENT
                ? new Word.Stands("the PCIe link of a busy GPU runs at " + is + ", it can " + can)
                : new Word.Unclear();
    }

    private static long replays(Vitals vitals) {
        int generation = Math.clamp(vitals.conditions().pcieGeneration().orElse(1), 1, REPLAYS_A_LANE.length);
        int lanes = vitals.conditions().pcieWidth().orElse(16);
        return (long) Math.ceil(lanes * REPLAYS_A_LANE[generation - 1]);
    }

    private static Rule throttled(long bit, String trouble) {
        return Lasting.after(
                IN_A_ROW,
                LASTS,
                (vitals, _) -> judged(
                        vitals.clockEventReasons().map(reasons -> (reasons & bit) != 0), trouble, "clocks are free"));
    }

    private static Rule fabric(int polls, Duration span, Set<Conditions.Fabric> bad, String trouble) {
        return Lasting.after(
                polls,
                span,
                (vitals, _) -> judged(vitals.conditions().fabric().map(bad::contains), trouble, "the fabric is up"));
    }
}
