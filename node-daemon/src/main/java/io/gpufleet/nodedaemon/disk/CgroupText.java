package io.gpufleet.nodedaemon.disk;

import io.gpufleet.nodedaemon.model.ProcessOwner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of {@code /proc/PID/cgroup}: a line a hierarchy, {@code id:controllers:path}. The kubelet names a pod's cgroup by
 * the pod's UID, with either of its drivers: {@code kubepods-burstable-pod1f0e…_….slice} or {@code kubepods/burstable/pod1f0e…-…}.
 */
final class CgroupText {
    /** The UID of a pod from a file on the node is a hash without dashes. */
    private static final Pattern POD = Pattern.compile(
            "(?:/|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\\.slice)?(?:[/:]|$)");

    private CgroupText() {}

    /** Of pods within a pod it is the outermost, the one that this node's kubelet knows. */
    static ProcessOwner owner(String text) {
        boolean fromInside = false;
        for (String line : text.split("\n", -1)) {
            String[] parts = line.split(":", 3);
            String path = parts.length == 3 ? parts[2] : "";
            Matcher pod = POD.matcher(path);
            if (pod.find()) {
                return new ProcessOwner.Pod(pod.group(1).replace('_', '-'));
            }
            fromInside |= path.startsWith("/..");
        }
        // From within another cgroup namespace the beginning of the path is not told.
        return fromInside
                ? new ProcessOwner.Unknown("seen from within another cgroup namespace")
                : new ProcessOwner.Host();
    }
}
