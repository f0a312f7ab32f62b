package io.gpufleet.nodedaemon.model.settings;

/**
 * All that may be chosen for one node and changed while the daemon runs.
 *
 * @param mig how MIG instances become resources
 * @param sharing which devices are offered several times
 * @param order how containers are spread over shared devices
 * @param allocate how Allocate answers
 * @param xids what is said about single XIDs
 */
public record PluginSettings(
        MigStrategy mig, SharePlan sharing, ReplicaOrder order, AllocateSettings allocate, XidOverrides xids) {
    /** What holds where nobody chose: no MIG, no sharing, the environment variable. */
    public static final PluginSettings STANDARD = new PluginSettings(
            MigStrategy.NONE, SharePlan.NONE, ReplicaOrder.DISTRIBUTED, AllocateSettings.STANDARD, XidOverrides.NONE);

    /** Refuses what NVIDIA's plugin refuses: MPS beside mixed MIG. */
    public PluginSettings {
        if (mig == MigStrategy.MIXED && sharing.means() == SharePlan.Means.MPS) {
            throw new IllegalArgumentException(
                    "sharing.mps beside migStrategy mixed; MPS works on whole GPUs only, choose one of the two");
        }
    }

    /** The same with another answer to Allocate. */
    public PluginSettings with(AllocateSettings others) {
        return new PluginSettings(mig, sharing, order, others, xids);
    }
}
