package io.gpufleet.nodedaemon.model.settings;

/**
 * The settings of one node, which may change while the daemon runs.
 *
 * @param mig how MIG instances become resources
 * @param sharing which devices are offered several times
 * @param replicaPolicy how containers are spread over shared devices
 * @param allocate how Allocate makes devices visible
 * @param xids overrides of single XIDs
 */
public record PluginSettings(
        MigStrategy mig,
        SharingSettings sharing,
        ReplicaAllocationPolicy replicaPolicy,
        AllocateSettings allocate,
        XidOverrides xids) {
    /** The default: no MIG, no sharing, the environment variable. */
    public static final PluginSettings DEFAULT = new PluginSettings(
            MigStrategy.NONE,
            SharingSettings.NONE,
            ReplicaAllocationPolicy.DISTRIBUTED,
            AllocateSettings.DEFAULT,
            XidOverrides.NONE);

    /** Refuses what NVIDIA's plugin refuses: MPS beside mixed MIG. */
    public PluginSettings {
        if (mig == MigStrategy.MIXED && sharing.mode() == SharingSettings.SharingMode.MPS) {
            throw new IllegalArgumentException(
                    "sharing.mps beside migStrategy mixed; MPS works on whole GPUs only, choose one of the two");
        }
    }

    /** Returns the same settings with another {@code allocate}. */
    public PluginSettings with(AllocateSettings others) {
        return new PluginSettings(mig, sharing, replicaPolicy, others, xids);
    }
}
