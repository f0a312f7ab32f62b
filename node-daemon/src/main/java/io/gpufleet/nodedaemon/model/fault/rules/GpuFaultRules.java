package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The rules of one GPU by kind of fault. Decision 13 has the reason for each. */
final class GpuFaultRules {
    private static final Duration MIN_DURATION = Duration.ofSeconds(20);
    private static final Duration FABRIC_TIMEOUT = Duration.ofMinutes(5);
    private static final int CONSECUTIVE_POLLS = 3;
    private static final int BUSY_PERCENT = 50;

    private static final long HW_SLOWDOWN = 0x8;
    private static final long HW_THERMAL = 0x40;
    private static final long HW_POWER_BRAKE = 0x80;

    /** Replays per minute and lane that DCGM considers normal, by PCIe generation from 1. */
    private static final double[] REPLAYS_PER_LANE = {0.15, 0.3, 0.48, 0.96, 1.92, 3.84};

    /** Reasons for unavailable memory readings that are no fault of the memory. */
    private static final Set<String> UNRELATED_REASONS = Set.of(
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

    private GpuFaultRules() {}

    /** Makes the initial rules; NVLinks that are down before {@code quietUntilNanos} are still being trained. */
    static Map<FaultKind, List<FaultRule>> standard(long quietUntilNanos) {
        var rules = new EnumMap<FaultKind, List<FaultRule>>(FaultKind.class);
        memory(rules);
        links(rules, quietUntilNanos);
        board(rules);
        return rules;
    }

    private static void memory(Map<FaultKind, List<FaultRule>> rules) {
        rules.put(
                FaultKind.MEMORY_UNREADABLE,
                List.of(SustainedRule.immediate(
                        (sample, _) -> memory(sample.device().memoryUsedBytes()))));
        rules.put(
                FaultKind.ECC_UNCORRECTABLE,
                List.of(CounterIncreaseRule.of(
                        "uncorrectable ECC errors", sample -> sample.health().uncorrectableErrors())));
        rules.put(
                FaultKind.ROW_REMAP,
                List.of(
                        flagRule(
                                health -> health.rowRemapping().failed(),
                                "a row could not be remapped",
                                "no remap failed"),
                        flagRule(
                                health -> health.rowRemapping().pending(),
                                "rows wait for a remap until the next reset",
                                "no remap is pending"),
                        flagRule(
                                HealthReadings::retirementPending,
                                "pages wait for retirement until the next reset",
                                "no retirement is pending")));
    }

    private static void links(Map<FaultKind, List<FaultRule>> rules, long quietUntilNanos) {
        rules.put(
                FaultKind.NVLINK,
                List.of(
                        SustainedRule.immediate(
                                (sample, now) -> links(sample.health(), now.nanos() - quietUntilNanos < 0)),
                        nvlinkRule(NvlinkErrorLimit.REPLAY_OR_RECOVERY),
                        nvlinkRule(NvlinkErrorLimit.CRC)));
        rules.put(
                FaultKind.PCIE,
                List.of(
                        SustainedRule.after(CONSECUTIVE_POLLS, MIN_DURATION, (sample, _) -> pcieLink(sample)),
                        CounterRateRule.of(
                                "PCIe replays", sample -> sample.device().pcieReplays(), GpuFaultRules::replays)));
        rules.put(
                FaultKind.FABRIC,
                List.of(
                        fabricRule(
                                1,
                                Duration.ZERO,
                                Set.of(HealthReadings.FabricState.FAILED),
                                "registration with the fabric failed"),
                        fabricRule(
                                2,
                                FABRIC_TIMEOUT,
                                Set.of(HealthReadings.FabricState.NOT_STARTED, HealthReadings.FabricState.IN_PROGRESS),
                                "registration with the fabric does not complete"),
                        fabricRule(
                                1,
                                Duration.ZERO,
                                Set.of(HealthReadings.FabricState.ROUTE_UNHEALTHY),
                                "a route of the fabric does not work"),
                        fabricRule(
                                1,
                                Duration.ZERO,
                                Set.of(HealthReadings.FabricState.MISCONFIGURED),
                                "the fabric is configured otherwise than the fabric manager expects"),
                        fabricRule(
                                CONSECUTIVE_POLLS,
                                MIN_DURATION,
                                Set.of(HealthReadings.FabricState.BANDWIDTH_DEGRADED),
                                "the fabric has less bandwidth than its links"),
                        fabricRule(
                                2,
                                FABRIC_TIMEOUT,
                                Set.of(HealthReadings.FabricState.RECOVERING),
                                "the fabric does not recover")));
    }

    private static FaultRule nvlinkRule(NvlinkErrorLimit limit) {
        return CounterRateRule.of(limit.what(), limit::count, _ -> limit.perMinute());
    }

    private static void board(Map<FaultKind, List<FaultRule>> rules) {
        rules.put(
                FaultKind.THROTTLE,
                List.of(
                        throttleRule(HW_THERMAL, "clocks are throttled by heat"),
                        throttleRule(HW_POWER_BRAKE, "clocks are throttled by the power brake"),
                        throttleRule(HW_SLOWDOWN, "clocks are throttled by the hardware")));
        rules.put(
                FaultKind.INFOROM,
                List.of(flagRule(
                        readings -> readings.infoRomValid().map(valid -> !valid),
                        "the InfoROM is corrupted",
                        "the InfoROM is valid")));
        rules.put(
                FaultKind.POWER_UNREADABLE,
                List.of(SustainedRule.after(
                        CONSECUTIVE_POLLS,
                        MIN_DURATION,
                        (sample, _) -> flagResult(
                                sample.health().powerReadable().map(readable -> !readable),
                                "the power draw cannot be read",
                                "the power draw can be read"))));
    }

    private static FaultRule flagRule(
            Function<HealthReadings, Reading<Boolean>> reading, String problem, String proof) {
        return SustainedRule.immediate((sample, _) -> flagResult(reading.apply(sample.health()), problem, proof));
    }

    private static FaultRuleResult flagResult(Reading<Boolean> bad, String problem, String proof) {
        return switch (bad) {
            case Reading.Known<Boolean>(Boolean is) ->
                is ? new FaultRuleResult.Firing(problem) : new FaultRuleResult.Inactive(proof);
            case Reading.Unavailable<Boolean> _ -> new FaultRuleResult.NoData();
        };
    }

    /** Whether only the memory query fails; one that the board does not support or that is not permitted is no failure. */
    static FaultRuleResult memory(Reading<Long> bytes) {
        return switch (bytes) {
            case Reading.Known<Long> _ -> new FaultRuleResult.Inactive("the memory can be read");
            case Reading.Unavailable<Long>(String reason) ->
                !reason.matches("[A-Z0-9_]+") || UNRELATED_REASONS.contains(reason)
                        ? new FaultRuleResult.NoData()
                        : new FaultRuleResult.Firing("the memory cannot be read: " + reason);
        };
    }

    private static FaultRuleResult links(HealthReadings readings, boolean freshlyBooted) {
        return switch (readings.nvlink().linksDown()) {
            case Reading.Unavailable<Integer> _ -> new FaultRuleResult.NoData();
            case Reading.Known<Integer>(Integer down) -> {
                boolean fabricIsUp =
                        readings.fabric().orElse(HealthReadings.FabricState.UP).isRegistered();
                if (down == 0) {
                    yield new FaultRuleResult.Inactive("all NVLinks are up");
                }
                yield freshlyBooted || !fabricIsUp
                        ? new FaultRuleResult.Inconclusive()
                        : new FaultRuleResult.Firing(down + " NVLinks are down");
            }
        };
    }

    /** An idle GPU slows its link down to save power, so only a busy GPU is judged. */
    private static FaultRuleResult pcieLink(GpuSample sample) {
        HealthReadings now = sample.health();
        var known = List.of(
                now.pcie().generation(),
                now.pcie().maxGeneration(),
                now.pcie().width(),
                now.pcie().maxWidth());
        if (known.stream().anyMatch(Reading.Unavailable.class::isInstance)) {
            return new FaultRuleResult.NoData();
        }
        var is = "gen " + now.pcie().generation().orElse(0) + " x"
                + now.pcie().width().orElse(0);
        var supported = "gen " + now.pcie().maxGeneration().orElse(0) + " x"
                + now.pcie().maxWidth().orElse(0);
        boolean full =
                now.pcie().generation().orElse(0) >= now.pcie().maxGeneration().orElse(0)
                        && now.pcie().width().orElse(0) >= now.pcie().maxWidth().orElse(0);
        if (full) {
            return new FaultRuleResult.Inactive("the PCIe link runs at " + is);
        }
        return sample.device().utilization().gpu().orElse(0) >= BUSY_PERCENT
                ? new FaultRuleResult.Firing("the PCIe link of a busy GPU runs at " + is + ", it supports " + supported)
                : new FaultRuleResult.Inconclusive();
    }

    private static long replays(GpuSample sample) {
        int generation = Math.clamp(sample.health().pcie().generation().orElse(1), 1, REPLAYS_PER_LANE.length);
        int lanes = sample.health().pcie().width().orElse(16);
        return (long) Math.ceil(lanes * REPLAYS_PER_LANE[generation - 1]);
    }

    private static FaultRule throttleRule(long bit, String problem) {
        return SustainedRule.after(
                CONSECUTIVE_POLLS,
                MIN_DURATION,
                (sample, _) -> flagResult(
                        sample.device().clocks().eventReasons().map(reasons -> (reasons & bit) != 0),
                        problem,
                        "clocks are not throttled"));
    }

    private static FaultRule fabricRule(int polls, Duration span, Set<HealthReadings.FabricState> bad, String problem) {
        return SustainedRule.after(
                polls,
                span,
                (sample, _) -> flagResult(sample.health().fabric().map(bad::contains), problem, "the fabric is up"));
    }
}
