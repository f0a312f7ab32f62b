package io.gpufleet.nodedaemon.model;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * What programs beside the daemon say of themselves through files on the node.
 *
 * @param installer state of the driver installer; empty where there is none
 * @param mps state of the MPS control daemon, by resource: {@code ready} or why not
 */
public record SideStates(String installer, Map<String, String> mps) {
    /** Nobody says anything. */
    public static final SideStates NONE = new SideStates("", Map.of());

    /** The word of an MPS control daemon that works. */
    public static final String READY = "ready";

    /** Copies the map. */
    public SideStates {
        mps = Map.copyOf(mps);
    }

    /** Why the MPS control daemon of a resource is of no use, by resource; absent where it is. */
    public Map<String, String> mpsTrouble(Set<String> resources) {
        var trouble = new HashMap<String, String>();
        for (String resource : resources) {
            String state = mps.getOrDefault(resource, "nobody has asked the control daemon yet");
            if (!state.equals(READY)) {
                trouble.put(resource, state);
            }
        }
        return trouble;
    }
}
