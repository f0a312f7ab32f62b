package io.gpufleet.health.app;

import io.gpufleet.health.app.NodeMarks.Answer;
import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.MarksPlan;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.WantedMarks;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One look at one Node, and what is to be written on it. Never called twice at once for one node. */
public final class MarksStep {
    private static final Logger LOG = LoggerFactory.getLogger(MarksStep.class);
    private static final int ATTEMPTS = 5;
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final NodeMarks marks;
    private final SignalSink signals;
    private final ReconcileCounters counters;
    private final Clock clock;
    private final Duration secondLook;
    private final Map<String, Absence> absences = new ConcurrentHashMap<>();
    private final Map<String, String> toldUids = new ConcurrentHashMap<>();
    private final Map<String, String> outcomes = new ConcurrentHashMap<>();

    /** A mark that was found missing. */
    private record Absence(Instant since, long revision, boolean told) {}

    /** When to look again. */
    public sealed interface Next {
        /** On the next cause. */
        record Settled() implements Next {}

        /** After a while, whatever happens. */
        record LookAgain(Duration after) implements Next {}

        /** After a while, since something did not work. */
        record Failed(Duration after) implements Next {}
    }

    /**
     * A step.
     *
     * @param secondLook a mark that is missing at two looks this far apart was taken away on purpose
     */
    public MarksStep(
            NodeMarks marks, SignalSink signals, ReconcileCounters counters, Clock clock, Duration secondLook) {
        this.marks = marks;
        this.signals = signals;
        this.counters = counters;
        this.clock = clock;
        this.secondLook = secondLook;
    }

    /** Acting begins soon. */
    void warmUp() {
        marks.warmUp();
    }

    /** What the last step on the node came to. */
    String outcome(String node) {
        return outcomes.getOrDefault(node, "not looked at yet");
    }

    /** Looks and writes; failures says how many steps failed before this one. */
    Next make(Verdict verdict, int failures) {
        Optional<FoundNode> found = marks.cached(verdict.node());
        if (found.isEmpty()) {
            // The watch tells when the Node appears, or when it can be watched at all.
            outcomes.put(verdict.node(), marks.watching() ? "no such Node" : "Nodes can not be watched now");
            return new Next.Settled();
        }
        tellUid(verdict, found.get());
        return write(found.get(), verdict, pause(failures));
    }

    private Next write(FoundNode cached, Verdict verdict, Duration pause) {
        WantedMarks wanted = WantedMarks.of(verdict);
        FoundNode found = cached;
        boolean fromServer = false;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            MarksPlan plan = MarksPlan.of(found, wanted);
            if (plan instanceof MarksPlan.Missing missing) {
                return missing(found, missing, fromServer);
            }
            absences.remove(found.name());
            if (!(plan instanceof MarksPlan.Write write)) {
                return settled(found, plan);
            }
            Answer answer = carryOut(found, write, wanted);
            if (answer instanceof Answer.Changed) {
                counters.conflicts.increment();
                Optional<FoundNode> watched = movedOn(found);
                fromServer = watched.isEmpty();
                answer = watched.<Answer>map(Answer.Done::new).orElseGet(() -> marks.read(cached.name()));
                if (answer instanceof Answer.Done(FoundNode fresh)) {
                    found = fresh;
                    continue;
                }
            }
            return after(found, wanted, write, answer, pause);
        }
        outcomes.put(cached.name(), "the Node changes too fast to be patched");
        return new Next.Failed(pause);
    }

    /** What changed the Node has mostly been told by the watch when the refusal arrives: that saves a read. */
    private Optional<FoundNode> movedOn(FoundNode found) {
        return marks.cached(found.name()).filter(node -> !node.resourceVersion().equals(found.resourceVersion()));
    }

    private Answer carryOut(FoundNode found, MarksPlan.Write write, WantedMarks wanted) {
        FoundNode now = found;
        if (write.marks()) {
            Answer answer = marks.patchMarks(found, write);
            if (!(answer instanceof Answer.Done(FoundNode patched))) {
                return answer;
            }
            counters.patches.increment();
            now = patched;
            LOG.atInfo()
                    .addKeyValue("node", found.name())
                    .addKeyValue("revision", wanted.revision())
                    .addKeyValue("taint", write.note().taint())
                    .addKeyValue("label", write.note().label())
                    .log("marks written");
        }
        if (write.condition()) {
            Answer answer = marks.patchCondition(now, wanted.condition());
            if (answer instanceof Answer.Done) {
                counters.conditions.increment();
                boolean problem = wanted.condition().status().equals("True");
                marks.tell(
                        now,
                        problem,
                        wanted.condition().reason(),
                        wanted.condition().message());
            }
            return answer;
        }
        return new Answer.Done(now);
    }

    private Next after(FoundNode found, WantedMarks wanted, MarksPlan.Write write, Answer answer, Duration pause) {
        return switch (answer) {
            case Answer.Done(FoundNode now) -> {
                report(now, wanted, "");
                foreign(now.name(), write.foreign());
                yield new Next.Settled();
            }
            case Answer.Gone() -> {
                outcomes.put(found.name(), "no such Node");
                yield new Next.Settled();
            }
            case Answer.Refused(String why) -> {
                failed(found, "refused: " + why);
                report(found, wanted, why);
                yield new Next.Failed(LONGEST_PAUSE);
            }
            case Answer.Away(String why) -> {
                failed(found, "no answer: " + why);
                yield new Next.Failed(pause);
            }
            case Answer.Changed() -> new Next.Failed(pause);
        };
    }

    private void failed(FoundNode found, String outcome) {
        counters.failures.increment();
        if (!outcome.equals(outcomes.put(found.name(), outcome))) {
            LOG.atWarn()
                    .addKeyValue("node", found.name())
                    .addKeyValue("reason", outcome)
                    .log("marks not written, will be tried again");
        }
    }

    private void report(FoundNode found, WantedMarks wanted, String error) {
        signals.patched(
                found.name(), new SignalSink.Patched(found.uid(), wanted.revision(), "marks", error.isEmpty(), error));
    }

    private void foreign(String node, List<String> foreign) {
        String outcome = foreign.isEmpty() ? "as wanted" : "left alone, set by somebody else: " + foreign;
        if (!outcome.equals(outcomes.put(node, outcome)) && !foreign.isEmpty()) {
            counters.foreign.increment();
            LOG.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("marks", foreign)
                    .log("marks of somebody else stand in the place of ours and stay");
        }
    }

    private Next settled(FoundNode found, MarksPlan plan) {
        String outcome = switch (plan) {
            case MarksPlan.OptedOut() -> "left alone: label gpufleet.io/managed=false";
            case MarksPlan.OtherNode(String uid) -> "another Node object, verdict on it follows: " + uid;
            case MarksPlan.Outdated(long revision) ->
                "left alone: marks of revision " + revision
                        + " found, newer than ours; where that is no other active replica, remove annotation"
                        + " gpufleet.io/marks";
            case MarksPlan.Nothing _, MarksPlan.Missing _, MarksPlan.Write _ ->
                outcome(found.name()).startsWith("left alone, set") ? outcome(found.name()) : "as wanted";
        };
        if (!outcome.equals(outcomes.put(found.name(), outcome)) && plan instanceof MarksPlan.Outdated) {
            LOG.atWarn()
                    .addKeyValue("node", found.name())
                    .addKeyValue("reason", outcome)
                    .log("marks not written");
        }
        return new Next.Settled();
    }

    /** Two looks a while apart, the second at the API server itself: then it was somebody's hand. */
    private Next missing(FoundNode found, MarksPlan.Missing missing, boolean fresh) {
        Instant now = clock.instant();
        Absence absence = absences.get(found.name());
        if (absence == null || absence.revision() != missing.revision()) {
            absences.put(found.name(), new Absence(now, missing.revision(), false));
            outcomes.put(found.name(), missing.mark() + " is gone, looking again in " + secondLook.toSeconds() + " s");
            return new Next.LookAgain(secondLook);
        }
        Duration left = Duration.between(now, absence.since().plus(secondLook));
        if (left.isPositive()) {
            return new Next.LookAgain(left);
        }
        if (!absence.told() && (fresh || stillMissing(found))) {
            absences.put(found.name(), new Absence(absence.since(), absence.revision(), true));
            outcomes.put(found.name(), missing.mark() + " was taken away by hand");
            signals.markRemoved(found.name(), missing.mark(), "unknown", missing.revision())
                    .whenComplete((_, failed) -> {
                        if (failed != null) {
                            absences.remove(found.name());
                        }
                    });
        }
        return new Next.LookAgain(secondLook);
    }

    private boolean stillMissing(FoundNode found) {
        return marks.read(found.name()) instanceof Answer.Done(FoundNode now)
                && now.uid().equals(found.uid())
                && !now.note().taint().isEmpty()
                && now.taintLikeOurs().isEmpty();
    }

    private void tellUid(Verdict verdict, FoundNode found) {
        String uid = found.uid();
        if (!uid.equals(verdict.nodeUid()) && !uid.equals(toldUids.put(found.name(), uid))) {
            signals.nodeSeen(found.name(), found.facts()).whenComplete((_, failed) -> {
                if (failed != null) {
                    toldUids.remove(found.name(), uid);
                }
            });
        }
    }

    private static Duration pause(int failures) {
        Duration doubled = Duration.ofSeconds(1L << Math.min(failures, 5));
        return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
    }
}
