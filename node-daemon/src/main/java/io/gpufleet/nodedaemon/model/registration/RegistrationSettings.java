package io.gpufleet.nodedaemon.model.registration;

/**
 * How the daemon registers with the kubelet.
 *
 * @param mode whether it registers at all
 * @param transport by which of the kubelet's two ways
 */
public record RegistrationSettings(RegistrationMode mode, RegistrationTransport transport) {
    /** Registers by the kubelet's socket, unless another device plugin is alive. */
    public static final RegistrationSettings DEFAULT =
            new RegistrationSettings(RegistrationMode.AUTO, RegistrationTransport.DEVICE_PLUGINS);

    /** Whether it registers at all. */
    public enum RegistrationMode {
        /** Unless another device plugin is alive. */
        AUTO,
        /** Always, also beside other device plugins. */
        ON,
        /** Never: the daemon only observes. */
        OFF
    }

    /** The two ways of registration; never both at once, or one resource would have two plugins. */
    public enum RegistrationTransport {
        /** A call to kubelet.sock in the device-plugins directory. */
        DEVICE_PLUGINS,
        /** A socket in the plugins_registry directory, to which the kubelet connects by itself. */
        PLUGINS_REGISTRY
    }
}
