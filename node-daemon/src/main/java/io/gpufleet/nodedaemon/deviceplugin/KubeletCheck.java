package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Checks the kubelet's sockets and whether a foreign plugin serves GPUs.
 *
 * @param directory the kubelet's device-plugins directory
 * @param registry the kubelet's plugins_registry directory
 * @param registration how the daemon registers
 * @param roots finds the kubelet where it does not listen in these directories
 */
public record KubeletCheck(Path directory, Path registry, RegistrationSettings registration, KubeletRoots roots) {
    private static final String DEVICE_PLUGINS = "device-plugins";
    private static final String PLUGINS_REGISTRY = "plugins_registry";
    private static final String POD_RESOURCES = "pod-resources";

    /** Connects to the sockets and closes the connections at once. */
    public List<DoctorFinding> examine(Path podResources) {
        return List.of(kubelet(), foreignPlugin(), podResources(podResources));
    }

    private DoctorFinding kubelet() {
        if (registration.mode() == RegistrationSettings.RegistrationMode.OFF) {
            return DoctorFinding.ok("kubelet", "GPUs are not offered to it (GPUFLEET_DEVICE_PLUGIN=off)");
        }
        return switch (registration.transport()) {
            case PLUGINS_REGISTRY ->
                writable(registry)
                        ? watched()
                        : directoryMissing(registry, PLUGINS_REGISTRY, "GPUFLEET_PLUGINS_REGISTRY_DIR");
            case DEVICE_PLUGINS ->
                writable(directory)
                        ? socket(new DevicePluginsDirectory(directory))
                        : directoryMissing(directory, DEVICE_PLUGINS, "GPUFLEET_DEVICE_PLUGIN_DIR");
        };
    }

    private static boolean writable(Path path) {
        return Files.isDirectory(path) && Files.isWritable(path);
    }

    private static DoctorFinding directoryMissing(Path directory, String name, String setting) {
        return DoctorFinding.fail(
                "kubelet",
                directory + " is not a writable directory",
                "mount the kubelet's " + name + " directory there, or set " + setting
                        + " (below the kubelet's --root-dir)");
    }

    /** The kubelet watches the directory below its root, where its other sockets are. */
    private DoctorFinding watched() {
        return roots.otherDirectory(POD_RESOURCES, registry.resolveSibling(POD_RESOURCES))
                .map(other -> other.resolveSibling(PLUGINS_REGISTRY))
                .map(other -> DoctorFinding.fail(
                        "kubelet",
                        registry + " is not watched: the kubelet of this host has " + other,
                        mount(
                                PLUGINS_REGISTRY,
                                other,
                                "at the same path in the container, with GPUFLEET_PLUGINS_REGISTRY_DIR=" + other)))
                .orElse(DoctorFinding.ok("kubelet", registry + " is writable, the kubelet watches it"));
    }

    private DoctorFinding socket(DevicePluginsDirectory plugins) {
        String socket = plugins.kubeletSocket().toString();
        return switch (plugins.readKubeletSocket()) {
            case KubeletSocket.Absent _ ->
                noKubelet(socket + " does not exist", "start the kubelet; the daemon waits for it");
            case KubeletSocket.Present _ ->
                DevicePluginsDirectory.isServed(plugins.kubeletSocket())
                        ? DoctorFinding.ok("kubelet", socket + " responds")
                        : noKubelet(
                                socket + " does not respond",
                                "restart the kubelet; it may be starting, or the socket is stale");
        };
    }

    private DoctorFinding noKubelet(String found, String remedy) {
        return roots.otherDirectory(DEVICE_PLUGINS, directory)
                .map(other -> DoctorFinding.fail(
                        "kubelet",
                        found + ", the kubelet of this host listens in " + other,
                        mount(DEVICE_PLUGINS, other, "at " + directory)))
                .orElse(DoctorFinding.fail("kubelet", found, remedy));
    }

    private static String mount(String volume, Path other, String where) {
        return "set the hostPath of the DaemonSet's volume " + volume + " to " + other + ", mounted " + where
                + KubeletRoots.component(other)
                        .map(component -> "; k8s/" + component + " does, as a component of your overlay")
                        .orElse("");
    }

    private DoctorFinding foreignPlugin() {
        return new DevicePluginsDirectory(directory)
                .liveForeignPlugin()
                .map(this::foreign)
                .orElse(DoctorFinding.ok("other plugins", "none serves GPUs"));
    }

    private DoctorFinding foreign(String socket) {
        return switch (registration.mode()) {
            case OFF -> DoctorFinding.ok("other plugins", socket + " serves the GPUs");
            case AUTO ->
                DoctorFinding.warn(
                        "other plugins",
                        socket + " is alive, so the daemon does not register",
                        "remove that device plugin from this node to let the daemon take over; running pods keep their"
                                + " GPUs");
            case ON ->
                DoctorFinding.warn(
                        "other plugins",
                        socket + " is alive and the daemon registers anyway",
                        "remove one of the two, or set GPUFLEET_DEVICE_PLUGIN=auto: the kubelet uses the plugin that registered last");
        };
    }

    private DoctorFinding podResources(Path socket) {
        if (DevicePluginsDirectory.isServed(socket)) {
            return DoctorFinding.ok("podresources", socket + " responds");
        }
        Path here = socket.toAbsolutePath().resolveSibling("");
        return roots.otherDirectory(POD_RESOURCES, here)
                .map(other -> DoctorFinding.fail(
                        "podresources",
                        socket + " does not respond, the kubelet of this host listens in " + other,
                        mount(POD_RESOURCES, other, "at " + here)))
                .orElse(DoctorFinding.warn(
                        "podresources",
                        socket + " does not respond",
                        "mount /var/lib/kubelet/pod-resources, or set GPUFLEET_POD_RESOURCES_SOCKET; without it the"
                                + " pods that hold GPUs are unknown"));
    }
}
