package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;

import io.gpufleet.allocation.model.holding.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Pods that ran on three devices of a node, what its daemon reports of them, and their true GPU time. */
final class TestPodRuns {
    private static final int EPISODE_SECONDS = 20_000;

    private TestPodRuns() {}

    record PodRun(String pod, String uid, String device, double from, int to) {}

    /** What happened on a node: on each of three devices one pod after the other. */
    static List<PodRun> podRuns(Random random) {
        return podRuns(random, 0);
    }

    /** The same, {@code episode} times 20,000 s later; no pod of two episodes is the same. */
    static List<PodRun> podRuns(Random random, int episode) {
        double start = EPISODE_SECONDS * (double) episode;
        List<PodRun> runs = new ArrayList<>();
        for (int device = 0; device < 3; device++) {
            double now = start + random.nextInt(50) / 10.0;
            for (int i = 0; i < 1 + random.nextInt(5); i++) {
                int end = (int) Math.ceil(now) + random.nextInt(40);
                // StatefulSets use their pods' names again.
                String pod = "pod-" + device + "-" + random.nextInt(2);
                runs.add(new PodRun(pod, "u-" + episode + "-" + device + "-" + i, "g" + device, now, end));
                now = end + 2 + random.nextInt(50) / 10.0;
            }
        }
        return runs;
    }

    /** Milli-GPU-seconds by pod. */
    static Map<String, Long> sums(List<PodRun> runs) {
        Map<String, Long> sums = new TreeMap<>();
        runs.forEach(run -> sums.merge(
                run.pod(),
                Math.max(0, at(run.to()).getEpochSecond() - at(run.from()).getEpochSecond()) * 1000,
                Long::sum));
        sums.values().removeIf(sum -> sum == 0);
        return sums;
    }

    /** What the daemon reports: each Allocate, and a snapshot soon after each change. */
    static List<LedgerFact> daemonFacts(List<PodRun> runs, TestNodeLedger scene) {
        return daemonFacts(runs, scene, 0);
    }

    /** The same of one episode, which ends with a snapshot of no holder. */
    static List<LedgerFact> daemonFacts(List<PodRun> runs, TestNodeLedger scene, int episode) {
        record Transition(double at, boolean begins, PodRun run) {}
        List<Transition> transitions = new ArrayList<>();
        runs.forEach(run -> {
            transitions.add(new Transition(run.from(), true, run));
            transitions.add(new Transition(run.to() + 0.9, false, run));
        });
        transitions.sort((one, two) -> Double.compare(one.at(), two.at()));
        List<LedgerFact> facts = new ArrayList<>();
        List<PodRun> held = new ArrayList<>();
        for (Transition transition : transitions) {
            if (transition.begins()) {
                facts.add(scene.allocated(transition.at(), transition.run().device()));
                held.add(transition.run());
            } else {
                held.remove(transition.run());
            }
            facts.add(scene.held(
                    transition.at() + (transition.begins() ? 0.5 : 0),
                    held.stream()
                            .map(run -> TestNodeLedger.holding(run.pod(), run.uid(), run.device()))
                            .toArray(Holding[]::new)));
        }
        facts.add(scene.held(EPISODE_SECONDS * (double) episode + EPISODE_SECONDS / 2.0));
        return facts;
    }

    /** The daemon is silent now and then after a snapshot, and sometimes its Node object is deleted meanwhile. */
    static List<LedgerFact> withSilences(List<LedgerFact> daemon, Random random) {
        List<LedgerFact> facts = new ArrayList<>();
        for (LedgerFact fact : daemon) {
            facts.add(fact);
            if (fact instanceof LedgerFact.HoldingsSnapshot snapshot && random.nextInt(3) == 0) {
                facts.add(new LedgerFact.DaemonSilent(snapshot.appendedAt()));
                if (random.nextBoolean()) {
                    facts.add(new LedgerFact.MachineGone(
                            snapshot.appendedAt().plusMillis(random.nextInt(1_500)), IntervalEndReason.NODE_LOST));
                }
            }
        }
        return facts;
    }

    /** One order between the streams, each of them in its own order; some facts of the second are repeated. */
    static List<LedgerFact> interleaved(List<LedgerFact> one, List<LedgerFact> other, Random random) {
        List<LedgerFact> order = new ArrayList<>();
        int i = 0;
        int j = 0;
        while (i < one.size() || j < other.size()) {
            if (j == other.size() || (i < one.size() && random.nextBoolean())) {
                order.add(one.get(i++));
            } else {
                order.add(other.get(j));
                if (random.nextInt(4) == 0) {
                    order.add(other.get(random.nextInt(j + 1)));
                }
                j++;
            }
        }
        return order;
    }
}
