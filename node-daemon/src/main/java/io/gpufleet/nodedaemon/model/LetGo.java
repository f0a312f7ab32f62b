package io.gpufleet.nodedaemon.model;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * Whether the GPUs are let go of. The time that is left is counted by the monotonic clock from when a request is first
 * seen: a clock that is set meanwhile neither ends a driver upgrade half way nor holds a node for ever.
 */
public sealed interface LetGo {
    /** A deadline further away than this is as good as none. */
    Duration LONGEST = Duration.ofDays(365);

    /** Nobody asks for them. */
    record Wanted() implements LetGo {}

    /** They are let go until then. */
    record Held(HoldRequest request, long untilNanos) implements LetGo {}

    /** The request still lies there, but its time is over. */
    record Overdue(HoldRequest request) implements LetGo {}

    /** There is a request. */
    default LetGo asked(HoldRequest request, Moment now) {
        return switch (this) {
            case Held held
            when held.request().equals(request) -> held.untilNanos() - now.nanos() > 0 ? held : new Overdue(request);
            case Overdue overdue when overdue.request().equals(request) -> overdue;
            case Wanted _, Held _, Overdue _ -> begun(request, now);
        };
    }

    private static LetGo begun(HoldRequest request, Moment now) {
        Duration left = Duration.between(now.wall(), request.deadline());
        if (!left.isPositive()) {
            return new Overdue(request);
        }
        Duration counted = left.compareTo(LONGEST) < 0 ? left : LONGEST;
        return new Held(request, now.nanos() + counted.toNanos());
    }

    /** There is no request. */
    default LetGo notAsked() {
        return new Wanted();
    }

    /** When time alone changes the answer, by the monotonic clock. */
    default OptionalLong endNanos() {
        return switch (this) {
            case Held held -> OptionalLong.of(held.untilNanos());
            case Wanted _, Overdue _ -> OptionalLong.empty();
        };
    }
}
