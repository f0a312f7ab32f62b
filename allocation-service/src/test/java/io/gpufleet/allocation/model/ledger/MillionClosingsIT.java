package io.gpufleet.allocation.model.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A million intervals close while ends of pods are repeated and reordered and the replica is killed: no second is lost or
 * added. Events that a daemon repeats never reach the ledger; the engine drops them by their sequence.
 */
class MillionClosingsIT {
    private static final int CLOSINGS = 1_000_000;
    private static final int EPISODES = 100;
    private static final int FACTS_PER_COMMIT = 20;

    private final Random random = new Random(20_261_120);

    /** Folds in commits; about every tenth is lost with its replica and folded again. */
    private void foldWithKills(TestNodeLedger scene, List<LedgerFact> facts) {
        for (int from = 0; from < facts.size(); from += FACTS_PER_COMMIT) {
            List<LedgerFact> part = facts.subList(from, Math.min(facts.size(), from + FACTS_PER_COMMIT));
            TestNodeLedger.Commit commit = scene.commit();
            while (random.nextInt(10) == 0) {
                scene.fold(part.subList(0, random.nextInt(part.size() + 1)).toArray(LedgerFact[]::new));
                scene.restore(commit);
            }
            scene.fold(part.toArray(LedgerFact[]::new));
        }
    }

    private void episode(TestNodeLedger scene, int episode, Map<String, Long> expected) {
        List<TestPodRuns.PodRun> runs = TestPodRuns.podRuns(random, episode);
        List<LedgerFact> ends = new ArrayList<>(runs.stream()
                .map(run -> TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()))
                .toList());
        Collections.shuffle(ends, random);
        List<LedgerFact> daemon = TestPodRuns.daemonFacts(runs, scene, episode);
        foldWithKills(scene, TestPodRuns.interleaved(daemon, ends, random));
        TestPodRuns.sums(runs).forEach((pod, millis) -> expected.merge(pod, millis, Long::sum));
    }

    @Test
    void noSecondIsLostOrAdded() {
        int closings = 0;
        while (closings < CLOSINGS) {
            var scene = new TestNodeLedger();
            Map<String, Long> expected = new TreeMap<>();
            for (int episode = 0; episode < EPISODES; episode++) {
                episode(scene, episode, expected);
            }
            assertThat(scene.millisByPod()).isEqualTo(expected);
            assertThat(scene.ledger().open()).isEmpty();
            closings += scene.closed().size();
        }
    }
}
