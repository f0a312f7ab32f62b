package io.gpufleet.nodedaemon.model.allocation;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Status of the companion programs, which they report in files on the node.
 *
 * @param installer state of the driver installer; empty where there is none
 * @param mps state of the MPS control daemon, by resource: {@code ready} or the problem
 */
public record CompanionStatus(String installer, Map<String, String> mps) {
    /** No companion reports a status. */
    public static final CompanionStatus NONE = new CompanionStatus("", Map.of());

    /** State of an MPS control daemon that works. */
    public static final String READY = "ready";

    /** Copies the map. */
    public CompanionStatus {
        mps = Map.copyOf(mps);
    }

    /** Returns the problem of the MPS control daemon, by resource; absent when it works. */
    public Map<String, String> mpsProblems(Set<String> resources) {
        var problem = new HashMap<String, String>();
        for (String resource : resources) {
            String state = mps.getOrDefault(resource, "control daemon not checked yet");
            if (!state.equals(READY)) {
                problem.put(resource, state);
            }
        }
        return problem;
    }
}
