package io.gpufleet.health.model.policy;

import java.util.Locale;

/** How a rule that takes the node out of service keeps pods away from it. */
public enum NodeAction {
    /** By our taint. */
    TAINT("tainted", "taint", "taint removed"),
    /** By making the node unschedulable; pods that tolerate every taint stay away too, those of DaemonSets do not. */
    CORDON("cordoned", "cordon", "uncordoned"),
    /** By both. */
    TAINT_AND_CORDON("tainted and cordoned", "taint and cordon", "taint removed or uncordoned");

    private final String done;
    private final String verb;
    private final String undone;

    NodeAction(String done, String verb, String undone) {
        this.done = done;
        this.verb = verb;
        this.undone = undone;
    }

    /** True when the node gets our taint. */
    public boolean taints() {
        return this != CORDON;
    }

    /** True when the node becomes unschedulable. */
    public boolean cordons() {
        return this != TAINT;
    }

    /** Action that does what both ask for. */
    public NodeAction and(NodeAction other) {
        return this == other ? this : TAINT_AND_CORDON;
    }

    /** State of the node after it, one word or three. */
    public String done() {
        return done;
    }

    /** Verb for the action. */
    public String verb() {
        return verb;
    }

    /** Words for what a person did who overrides it. */
    public String undone() {
        return undone;
    }

    /** Spelling in policy files, for example {@code taint-and-cordon}. */
    public String slug() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
