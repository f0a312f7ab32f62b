package io.gpufleet.nodedaemon.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Inputs of the liveness and readiness probes. A problem of GPUs or their driver is published as an event and fails no probe:
 * a few broken drivers would stall every rollout.
 *
 * @param sinceLastIteration time since the last iteration of the node loop, which has one every five seconds at least
 * @param callInFlight how long the device call in flight has taken
 * @param eventWait how long the wait for device events in progress has taken
 * @param stuckServer why the kubelet cannot be answered; empty when it can
 * @param scanned whether a device scan was made, with any result
 * @param notRegistered why the kubelet does not have our devices; empty when it has or there are none
 * @param broker why Kafka cannot be used by this configuration; empty in an outage of a broker
 */
public record LivenessChecks(
        Duration sinceLastIteration,
        Duration callInFlight,
        Duration eventWait,
        Optional<String> stuckServer,
        boolean scanned,
        Optional<String> notRegistered,
        List<String> broker) {
    /** Time without an iteration after which the loop counts as stuck. */
    static final Duration LOOP_STUCK = Duration.ofSeconds(30);

    /** Longer than the deadlines of all calls together, which are per GPU. */
    static final Duration CALL_STUCK = Duration.ofMinutes(5);

    /** Waits are slices of a second at most; one that does not end would hide every fault that has an event. */
    static final Duration EVENT_WAIT_STUCK = Duration.ofMinutes(1);

    /** Returns the reasons to restart the process; empty when there are none. */
    public List<String> livenessFailures() {
        var reasons = new ArrayList<String>();
        if (sinceLastIteration.compareTo(LOOP_STUCK) >= 0) {
            reasons.add("node loop has not iterated for " + sinceLastIteration.toSeconds() + " s");
        }
        if (callInFlight.compareTo(CALL_STUCK) >= 0) {
            reasons.add("device call in flight for " + callInFlight.toSeconds() + " s");
        }
        if (eventWait.compareTo(EVENT_WAIT_STUCK) >= 0) {
            reasons.add("wait for device events in flight for " + eventWait.toSeconds() + " s");
        }
        stuckServer.ifPresent(reasons::add);
        return reasons;
    }

    /** Returns the reasons why the daemon is not ready; empty also on a node without work for it. */
    public List<String> readinessFailures() {
        var reasons = new ArrayList<>(livenessFailures());
        if (!scanned) {
            reasons.add("devices: not scanned yet");
        }
        notRegistered.ifPresent(reasons::add);
        reasons.addAll(broker);
        return reasons;
    }
}
