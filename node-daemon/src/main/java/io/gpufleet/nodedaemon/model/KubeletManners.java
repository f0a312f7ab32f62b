package io.gpufleet.nodedaemon.model;

/**
 * How the daemon meets the kubelet.
 *
 * @param plugin whether it registers at all
 * @param way by which of the kubelet's two doors
 */
public record KubeletManners(Plugin plugin, Way way) {
    /** Registers by the kubelet's socket, unless somebody else serves. */
    public static final KubeletManners USUAL = new KubeletManners(Plugin.AUTO, Way.DEVICE_PLUGINS);

    /** Whether it registers at all. */
    public enum Plugin {
        /** Unless another device plugin is alive. */
        AUTO,
        /** Whoever else is there. */
        ON,
        /** Never: it observes only. */
        OFF
    }

    /** The kubelet's two doors; never both, or one resource would have two plugins. */
    public enum Way {
        /** A call to kubelet.sock in the device-plugins directory. */
        DEVICE_PLUGINS,
        /** A socket in the plugins_registry directory, to which the kubelet comes by itself. */
        PLUGINS_REGISTRY
    }
}
