package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses {@code /proc/PID/cgroup}, which has one line {@code id:controllers:path} per hierarchy. The kubelet names the cgroup
 * of a pod by its UID: {@code kubepods-burstable-pod1f0e…_….slice} with the systemd driver,
 * {@code kubepods/burstable/pod1f0e…-…} with cgroupfs.
 */
final class CgroupParser {
    /** The UID of a static pod is a hash without dashes. */
    private static final Pattern POD = Pattern.compile(
            "(?:/|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\\.slice)?(?:[/:]|$)");

    private CgroupParser() {}

    /** Owner of the process. Of nested pods it is the outermost, which is the one of this node's kubelet. */
    static ProcessOwner owner(String text) {
        boolean otherNamespace = false;
        for (String line : text.split("\n", -1)) {
            String[] parts = line.split(":", 3);
            String path = parts.length == 3 ? parts[2] : "";
            Matcher pod = POD.matcher(path);
            if (pod.find()) {
                return new ProcessOwner.Pod(pod.group(1).replace('_', '-'));
            }
            otherNamespace |= path.startsWith("/..");
        }
        // In another cgroup namespace the beginning of the path is hidden.
        return otherNamespace ? new ProcessOwner.Unknown("another cgroup namespace") : new ProcessOwner.Host();
    }
}
