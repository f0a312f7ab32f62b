package io.gpufleet.nodedaemon.cli;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.HealthReadings.FabricState;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The health readings of a GPU that need attention, as text. */
final class HealthSummary {
    private HealthSummary() {}

    /** One line per reading that needs attention; unavailable readings have none. */
    static List<String> of(GpuSample its) {
        HealthReadings conditions = its.health();
        var lines = new ArrayList<String>();
        RecoveryAction action = its.recoveryAction().orElse(RecoveryAction.NONE);
        when(lines, action != RecoveryAction.NONE, "driver recommends " + action);
        long errors = conditions.uncorrectableErrors().orElse(0L);
        when(lines, errors > 0, errors + " uncorrectable memory errors since the driver was loaded");
        when(lines, is(conditions.rowRemapping().pending()), "row remap pending: reset the GPU when it is idle");
        when(lines, is(conditions.rowRemapping().failed()), "row remap failed: replace the board");
        when(lines, is(conditions.retirementPending()), "page retirement pending: reset the GPU when it is idle");
        pcie(lines, conditions);
        int down = conditions.nvlink().linksDown().orElse(0);
        when(lines, down > 0, down + " NVLinks are down");
        long linkErrors = conditions.nvlink().errors().orElse(0L);
        when(lines, linkErrors > 0, linkErrors + " NVLink errors since the driver was loaded");
        when(lines, !conditions.infoRomValid().orElse(true), "the InfoROM is corrupted");
        FabricState fabric = conditions.fabric().orElse(FabricState.UP);
        when(lines, fabric != FabricState.UP, "the NVLink fabric is " + fabric + ": check the fabric manager");
        when(lines, !conditions.powerReadable().orElse(true), "the power draw cannot be read");
        return lines;
    }

    private static void pcie(List<String> lines, HealthReadings conditions) {
        int width = conditions.pcie().width().orElse(0);
        int max = conditions.pcie().maxWidth().orElse(0);
        // The generation drops while a GPU is idle, the width does not.
        when(lines, width > 0 && width < max, "PCIe runs with " + width + " of " + max + " lanes: reseat the board");
    }

    private static void when(List<String> lines, boolean condition, String line) {
        if (condition) {
            lines.add(line);
        }
    }

    private static boolean is(Reading<Boolean> reading) {
        return reading.orElse(false);
    }

    /** All health readings by name. */
    static Map<String, Object> fields(HealthReadings conditions) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("uncorrectableErrors", conditions.uncorrectableErrors());
        facts.put("remapPending", conditions.rowRemapping().pending());
        facts.put("remapFailed", conditions.rowRemapping().failed());
        facts.put("retirementPending", conditions.retirementPending());
        facts.put("pcieGeneration", conditions.pcie().generation());
        facts.put("pcieGenerationMax", conditions.pcie().maxGeneration());
        facts.put("pcieWidth", conditions.pcie().width());
        facts.put("pcieWidthMax", conditions.pcie().maxWidth());
        facts.put("nvlinksDown", conditions.nvlink().linksDown());
        facts.put("nvlinkErrors", conditions.nvlink().errors());
        facts.put("nvlinkCrcErrors", conditions.nvlink().crcErrors());
        facts.put("infoRomValid", conditions.infoRomValid());
        facts.put("fabric", conditions.fabric());
        facts.put("powerReadable", conditions.powerReadable());
        return facts;
    }
}
