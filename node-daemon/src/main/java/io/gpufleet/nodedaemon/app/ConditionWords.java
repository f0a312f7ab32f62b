package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Conditions.Fabric;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What of a GPU's condition is worth a line for people. */
final class ConditionWords {
    private ConditionWords() {}

    /** One line each; none where there is nothing to object to, or nothing could be read. */
    static List<String> of(Vitals its) {
        Conditions conditions = its.conditions();
        var words = new ArrayList<String>();
        RecoveryAction action = its.recoveryAction().orElse(RecoveryAction.NONE);
        when(words, action != RecoveryAction.NONE, "the driver asks for " + action);
        long errors = conditions.uncorrectableErrors().orElse(0L);
        when(words, errors > 0, errors + " uncorrectable memory errors since the driver was loaded");
        when(words, is(conditions.remapPending()), "rows wait for a remap: reset the GPU when it is idle");
        when(words, is(conditions.remapFailed()), "a row could not be remapped: the board wants replacing");
        when(words, is(conditions.retirementPending()), "pages wait for retirement: reset the GPU when it is idle");
        pcie(words, conditions);
        int down = conditions.linksDown().orElse(0);
        when(words, down > 0, down + " NVLinks are down");
        long linkErrors = conditions.linkErrors().orElse(0L);
        when(words, linkErrors > 0, linkErrors + " NVLink errors since the driver was loaded");
        when(words, !conditions.infoRomValid().orElse(true), "the InfoROM is corrupted");
        Fabric fabric = conditions.fabric().orElse(Fabric.UP);
        when(words, fabric != Fabric.UP, "the NVLink fabric is " + fabric + ": look at the fabric manager");
        when(words, !conditions.powerReadable().orElse(true), "the power draw can not be read");
        return words;
    }

    private static void pcie(List<String> words, Conditions conditions) {
        int width = conditions.pcieWidth().orElse(0);
        int most = conditions.pcieWidthMost().orElse(0);
        // The generation falls when a GPU is idle, the width does not.
        when(words, width > 0 && width < most, "PCIe runs with " + width + " of " + most + " lanes: reseat the board");
    }

    private static void when(List<String> words, boolean so, String word) {
        if (so) {
            words.add(word);
        }
    }

    private static boolean is(Reading<Boolean> reading) {
        return reading.orElse(false);
    }

    /** Every reading by its name. */
    static Map<String, Object> facts(Conditions conditions) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("uncorrectableErrors", conditions.uncorrectableErrors());
        facts.put("remapPending", conditions.remapPending());
        facts.put("remapFailed", conditions.remapFailed());
        facts.put("retirementPending", conditions.retirementPending());
        facts.put("pcieGeneration", conditions.pcieGeneration());
        facts.put("pcieGenerationMost", conditions.pcieGenerationMost());
        facts.put("pcieWidth", conditions.pcieWidth());
        facts.put("pcieWidthMost", conditions.pcieWidthMost());
        facts.put("linksDown", conditions.linksDown());
        facts.put("linkErrors", conditions.linkErrors());
        facts.put("infoRomValid", conditions.infoRomValid());
        facts.put("fabric", conditions.fabric());
        facts.put("powerReadable", conditions.powerReadable());
        return facts;
    }
}
