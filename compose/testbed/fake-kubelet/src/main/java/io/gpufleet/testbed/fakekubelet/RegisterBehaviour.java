package io.gpufleet.testbed.fakekubelet;

/** How a {@link FakeKubelet} responds to Register. */
public enum RegisterBehaviour {
    /** Connects to the plugin, responds, and opens its ListAndWatch stream, as a kubelet does. */
    CONNECT,
    /** Responds, and never opens a stream. */
    CONNECT_LATER,
    /** Responds with an error. */
    FAIL,
    /** Never responds. */
    NONE
}
