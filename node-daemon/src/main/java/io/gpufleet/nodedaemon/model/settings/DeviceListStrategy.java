package io.gpufleet.nodedaemon.model.settings;

import java.util.Arrays;
import java.util.Optional;

/** How devices are made visible to a container; the values are NVIDIA's, except the last. */
public enum DeviceListStrategy {
    /** {@code NVIDIA_VISIBLE_DEVICES}, read by NVIDIA's container runtime. */
    ENVVAR("envvar"),
    /** One mount of {@code /dev/null} per device below {@code /var/run/nvidia-container-devices}. */
    VOLUME_MOUNTS("volume-mounts"),
    /** CDI names in an annotation, for container runtimes that read it there. */
    CDI_ANNOTATIONS("cdi-annotations"),
    /** CDI names in the field that kubelets pass to the container runtime (Kubernetes 1.28 and later). */
    CDI_CRI("cdi-cri"),
    /** Device nodes, and the driver's directory at {@code /usr/local/nvidia}; needs no special runtime. */
    HOST_MOUNTS("host-mounts");

    private final String value;

    DeviceListStrategy(String result) {
        this.value = result;
    }

    /** Value in settings and events. */
    public String value() {
        return value;
    }

    /** Returns the strategy with the value. */
    public static Optional<DeviceListStrategy> of(String result) {
        return Arrays.stream(values()).filter(s -> s.value.equals(result)).findFirst();
    }
}
