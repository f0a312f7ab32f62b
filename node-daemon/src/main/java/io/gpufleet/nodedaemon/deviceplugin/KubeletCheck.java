package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.nodedaemon.model.KubeletManners;
import io.gpufleet.nodedaemon.model.KubeletSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Whether a kubelet is where the daemon looks for it, and whether somebody else serves its GPUs.
 *
 * @param directory its device-plugins directory
 * @param registry its directory of watched sockets
 * @param manners how the daemon meets it
 */
public record KubeletCheck(Path directory, Path registry, KubeletManners manners) {
    /** Looks at its sockets; connects, says nothing and hangs up. */
    public List<Finding> examine(Path podResources) {
        return List.of(kubelet(), foreignPlugin(), podResources(podResources));
    }

    private Finding kubelet() {
        if (manners.plugin() == KubeletManners.Plugin.OFF) {
            return Finding.ok("kubelet", "GPUs are not offered to it, as GPUFLEET_DEVICE_PLUGIN says");
        }
        return switch (manners.way()) {
            case PLUGINS_REGISTRY ->
                writable(registry)
                        ? Finding.ok("kubelet", registry + " can be written, the kubelet looks there by itself")
                        : nowhere(registry, "plugins_registry", "GPUFLEET_PLUGINS_REGISTRY_DIR");
            case DEVICE_PLUGINS ->
                writable(directory)
                        ? socket(new PluginDirectory(directory))
                        : nowhere(directory, "device-plugins", "GPUFLEET_DEVICE_PLUGIN_DIR");
        };
    }

    private static boolean writable(Path place) {
        return Files.isDirectory(place) && Files.isWritable(place);
    }

    private static Finding nowhere(Path place, String name, String setting) {
        return Finding.fail(
                "kubelet",
                place + " is no directory that can be written",
                "mount the kubelet's " + name + " directory there, or set " + setting
                        + " (a kubelet with another --root-dir has it below that)");
    }

    private static Finding socket(PluginDirectory plugins) {
        String socket = plugins.kubeletSocket().toString();
        return switch (plugins.look()) {
            case KubeletSocket.Absent _ ->
                Finding.fail("kubelet", socket + " is not there", "start the kubelet; the daemon waits for it");
            case KubeletSocket.Present _ ->
                PluginDirectory.answers(plugins.kubeletSocket())
                        ? Finding.ok("kubelet", socket + " answers")
                        : Finding.fail(
                                "kubelet",
                                socket + " does not answer",
                                "restart the kubelet; it may be starting, or the socket is left from before");
        };
    }

    private Finding foreignPlugin() {
        return new PluginDirectory(directory)
                .liveForeignPlugin()
                .map(this::foreign)
                .orElse(Finding.ok("other plugins", "none serves GPUs"));
    }

    private Finding foreign(String socket) {
        return switch (manners.plugin()) {
            case OFF -> Finding.ok("other plugins", socket + " serves the GPUs");
            case AUTO ->
                Finding.warn(
                        "other plugins",
                        socket + " is alive, so the daemon does not register",
                        "remove that device plugin from this node when the daemon is to take over; pods that run keep"
                                + " their GPUs");
            case ON ->
                Finding.warn(
                        "other plugins",
                        socket + " is alive beside the daemon, which registers all the same",
                        "remove one of the two, or set GPUFLEET_DEVICE_PLUGIN=auto: the kubelet believes whoever came last");
        };
    }

    private static Finding podResources(Path socket) {
        return PluginDirectory.answers(socket)
                ? Finding.ok("podresources", socket + " answers")
                : Finding.warn(
                        "podresources",
                        socket + " does not answer",
                        "mount /var/lib/kubelet/pod-resources, or set GPUFLEET_POD_RESOURCES_SOCKET; without it nobody knows"
                                + " which pod holds which GPU");
    }
}
