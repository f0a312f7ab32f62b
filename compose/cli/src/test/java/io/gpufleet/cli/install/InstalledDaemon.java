package io.gpufleet.cli.install;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The daemon of an installation, with other devices or on another machine, and components beside it.
 *
 * @param overlay directory of the installation
 * @param state directory of the daemon on the node
 */
public record InstalledDaemon(Path overlay, Path state) {
    /**
     * Replaces the daemons by ones with these simulated devices, and with a component of k8s/, or with none; the names of the
     * devices are in variables, since nodes of MIG devices are on no host here.
     */
    public void use(String devices, String component) throws IOException {
        String text = Files.readString(file())
                .replaceAll("GPUFLEET_DEVICES=.*", "GPUFLEET_DEVICES=" + devices)
                .replaceAll("GPUFLEET_DRIVER_ROOT=.*", "GPUFLEET_DEVICE_LIST_STRATEGY=envvar")
                .replaceAll(" *- GPUFLEET_DEV_ROOT=.*\n", "");
        apply(text, component);
    }

    /** Deletes it, and returns when its pod is gone; the next apply brings it back. */
    public void remove() {
        Kubectl.run(
                "-n",
                Installation.NODES,
                "delete",
                "daemonset",
                "node-daemon",
                "--cascade=foreground",
                "--timeout=60s");
    }

    /** What its program prints of itself, run beside it in its container. */
    public String report(String command) {
        return Kubectl.run(
                "-n",
                Installation.NODES,
                "exec",
                "daemonset/node-daemon",
                "--",
                "/opt/gpufleet/bin/node-daemon",
                command);
    }

    /** Applies it as on another machine: with these simulated devices and with an empty directory. */
    public void startOnAnotherMachine(String devices) throws IOException {
        startWith(devices, other(state));
    }

    /** Applies it as on the first machine, with the directory that it had there. */
    public void startOnTheFirstMachine(String devices) throws IOException {
        startWith(devices, state);
    }

    private void startWith(String devices, Path directory) throws IOException {
        String text = Files.readString(file())
                .replaceAll("GPUFLEET_DEVICES=.*", "GPUFLEET_DEVICES=" + devices)
                .replaceAll("hostPath: \\{path: [^}]*}", "hostPath: {path: " + directory + "}");
        apply(text, "");
    }

    /** Directory of the other machine. */
    static Path other(Path state) {
        return state.resolveSibling(state.getFileName() + "-other");
    }

    /** Applies the overlay with a component of k8s/, or with none. */
    public void add(String component) throws IOException {
        apply(Files.readString(file()), component);
    }

    private void apply(String text, String component) throws IOException {
        Path path = overlay.toRealPath()
                .relativize(Repository.module("k8s").toRealPath())
                .resolve(component);
        String without = text.replaceAll("components: .*\n", "");
        Files.writeString(file(), component.isEmpty() ? without : "components: [" + path + "]\n" + without);
        Kubectl.run("apply", "-k", overlay.toString());
        Kubectl.run("-n", Installation.NODES, "rollout", "status", "daemonset/node-daemon", "--timeout=180s");
    }

    private Path file() {
        return overlay.resolve("kustomization.yaml");
    }
}
