package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One fake kubelet.
 *
 * @param node name of its Node
 * @param directory directory of its sockets
 */
record KubeletSpec(String node, Path directory) {
    private static final Pattern NODE = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");
    /** sun_path has 108 bytes, the last is zero. */
    private static final int MAX_SOCKET_PATH = 107;

    /** Parses {@code <node>=<directory>,…}; an error is one line. */
    static List<KubeletSpec> parse(String setting, String text) {
        var specs = new ArrayList<KubeletSpec>();
        Set<String> names = new HashSet<>();
        for (String part : text.split(",", -1)) {
            int equals = part.indexOf('=');
            String node = equals < 0 ? "" : part.substring(0, equals).strip();
            String directory = equals < 0 ? "" : part.substring(equals + 1).strip();
            if (!NODE.matcher(node).matches() || directory.isEmpty()) {
                throw new ConfigurationException(setting + ": '" + part
                        + "' is not <node>=<directory>, for example gpu-node-0=/tmp/gpufleet/gpu-node-0");
            }
            if (!names.add(node)) {
                throw new ConfigurationException(setting + ": node '" + node + "' is listed twice");
            }
            Path socket = Path.of(directory).resolve("device-plugins").resolve("kubelet.sock");
            if (socket.toString().length() > MAX_SOCKET_PATH) {
                throw new ConfigurationException(setting + ": '" + socket + "' is longer than the " + MAX_SOCKET_PATH
                        + " bytes that a socket's path may have; choose a shorter directory");
            }
            specs.add(new KubeletSpec(node, Path.of(directory)));
        }
        return specs;
    }
}
