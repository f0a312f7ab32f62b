package io.gpufleet.nodedaemon.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the probes are answered from. Trouble with GPUs or their driver is a fact for the bus and no reason to be
 * restarted or held back: a few broken drivers would stall every rollout.
 *
 * @param loopStill how long ago the loop of the node's state last turned; it does so once a second
 * @param deviceCall how long the call to the devices that is under way has been taking
 * @param stuckServer why the kubelet can not be answered; empty when it can
 * @param looked whether the devices were looked at, with whatever result
 * @param notRegistered why the kubelet does not have our devices; empty when it does or there are none
 */
public record LifeSigns(
        Duration loopStill,
        Duration deviceCall,
        Optional<String> stuckServer,
        boolean looked,
        Optional<String> notRegistered) {
    /** After so long without a turn the loop is stuck. */
    static final Duration LOOP_STUCK = Duration.ofSeconds(30);

    /** Calls have deadlines of their own, a GPU each; after so long none of them can have worked. */
    static final Duration CALL_STUCK = Duration.ofMinutes(5);

    /** Reasons to start the process anew; empty when there is none. */
    public List<String> notAlive() {
        var reasons = new ArrayList<String>();
        if (loopStill.compareTo(LOOP_STUCK) >= 0) {
            reasons.add("the watch loop has not turned for " + loopStill.toSeconds() + " s");
        }
        if (deviceCall.compareTo(CALL_STUCK) >= 0) {
            reasons.add("the devices have not answered a call for " + deviceCall.toSeconds() + " s");
        }
        stuckServer.ifPresent(reasons::add);
        return reasons;
    }

    /** Reasons why the daemon does not do its work; empty also where it is settled that there is none to do. */
    public List<String> notReady() {
        var reasons = new ArrayList<>(notAlive());
        if (!looked) {
            reasons.add("devices: nobody has looked yet");
        }
        notRegistered.ifPresent(reasons::add);
        return reasons;
    }
}
