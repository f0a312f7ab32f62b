package io.gpufleet.runtime.leadership;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Counts terms in a row that committed nothing, and says when and for how long to leave leading to another replica. */
public final class Resignation {
    private static final Duration FIRST = Duration.ofSeconds(5);
    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final int tolerated;
    private int inARow;
    private Duration next = FIRST;
    private volatile String reason = "";

    public Resignation(int tolerated) {
        this.tolerated = tolerated;
    }

    /** A term committed something beyond its announcement. */
    public void productive() {
        inARow = 0;
        next = FIRST;
        reason = "";
    }

    /** Another replica leads with success; a cause that is this one's own is a reason of its own. */
    public void anotherLeads() {
        reason = "";
    }

    /** A term ended without a commit; how long to stay away, when it was one too many. */
    public Optional<Duration> failed(String why) {
        inARow++;
        if (inARow < tolerated) {
            return Optional.empty();
        }
        inARow = 0;
        Duration absence = next;
        next = next.multipliedBy(2).compareTo(LONGEST) > 0 ? LONGEST : next.multipliedBy(2);
        reason = "resigned after " + tolerated + " terms without a commit: " + why;
        return Optional.of(absence);
    }

    /** Stays until this replica or another one leads with success. */
    public List<String> reasons() {
        return reason.isEmpty() ? List.of() : List.of(reason);
    }
}
