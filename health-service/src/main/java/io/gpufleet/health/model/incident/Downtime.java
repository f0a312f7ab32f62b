package io.gpufleet.health.model.incident;

import io.gpufleet.health.model.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/**
 * How long GPUs were withdrawn and the node was tainted.
 *
 * @param since begin of what lasts, by GPU UUID; of the taint by the empty text
 * @param gpus ended withdrawals of all GPUs together
 * @param node ended taints
 */
public record Downtime(Map<String, Instant> since, Duration gpus, Duration node) {
    /** Nothing was out of service. */
    static final Downtime NONE = new Downtime(Map.of(), Duration.ZERO, Duration.ZERO);

    private static final String NODE = "";

    /** Copies the map. */
    public Downtime {
        since = Map.copyOf(since);
    }

    /** The downtime after a decision; a withdrawal or taint that lasts already is not counted twice. */
    Downtime after(RecordedDecision recorded) {
        Decision decision = recorded.decision();
        return switch (decision.action()) {
            case Decision.WITHDRAW, Decision.APPLY_TAINT, Decision.CORDON -> begun(recorded.device(), recorded.at());
            case Decision.TRUST, Decision.REMOVE_TAINT, Decision.UNCORDON -> ended(recorded.device(), recorded.at());
            default -> this;
        };
    }

    private Downtime begun(String target, Instant at) {
        var begun = new TreeMap<>(since);
        begun.putIfAbsent(target, at);
        return new Downtime(begun, gpus, node);
    }

    private Downtime ended(String target, Instant at) {
        Instant begin = since.get(target);
        if (begin == null) {
            return this;
        }
        var left = new TreeMap<>(since);
        left.remove(target);
        Duration lasted = between(begin, at);
        return target.equals(NODE)
                ? new Downtime(left, gpus, node.plus(lasted))
                : new Downtime(left, gpus.plus(lasted), node);
    }

    /** GPU time that was withdrawn up to now: two GPUs for a minute are two minutes. */
    public Duration gpuTimeLost(Instant now) {
        return since.entrySet().stream()
                .filter(each -> !each.getKey().equals(NODE))
                .map(each -> between(each.getValue(), now))
                .reduce(gpus, Duration::plus);
    }

    /** Time for which the node was tainted up to now; its running pods keep the GPUs that were not withdrawn. */
    public Duration nodeTainted(Instant now) {
        Instant begin = since.get(NODE);
        return begin == null ? node : node.plus(between(begin, now));
    }

    private static Duration between(Instant begin, Instant end) {
        Duration duration = Duration.between(begin, end);
        return duration.isNegative() ? Duration.ZERO : duration;
    }
}
