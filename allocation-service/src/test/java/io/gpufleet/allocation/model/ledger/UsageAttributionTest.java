package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.podFinished;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import io.gpufleet.allocation.model.holding.PodLabels;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Owner, labels and product of what is held. */
class UsageAttributionTest {
    private final TestNodeLedger node = new TestNodeLedger();

    private static LedgerFact known(String pod, String uid, String owner, double seenAt) {
        return new LedgerFact.PodKnown(
                new KnownPod("ml", pod, uid, owner, new TreeMap<>(Map.of("team", "of-" + owner)), at(seenAt)));
    }

    private UsageAttributes attributes(Holding holding) {
        return node.ledger().attributesOf(holding);
    }

    @Test
    void podIsFoundByItsUidAndByItsNameWhileTheUidIsUnknown() {
        node.fold(known("a", "u1", "Job/one", 0), known("a", "u2", "Job/two", 10));
        assertThat(attributes(holding("a", "u1", "g0")).owner()).isEqualTo("Job/one");
        assertThat(attributes(holding("a", "", "g0")).owner()).isEqualTo("Job/two");
        assertThat(attributes(holding("a", "u2", "g0")).labels()).isEqualTo(Map.of("team", "of-Job/two"));
        assertThat(attributes(holding("b", "u3", "g0"))).isEqualTo(UsageAttributes.NONE);
    }

    @Test
    void laterChangeOfThePodMovesNoUsage() {
        node.fold(known("a", "u1", "Job/one", 0), known("a", "u1", "Job/other", 10));
        assertThat(attributes(holding("a", "u1", "g0")).owner()).isEqualTo("Job/one");
    }

    @Test
    void podIsKnownForAsLongAsAnIntervalOfItMayBeAdjusted() {
        double hour = Duration.ofHours(1).toSeconds();
        node.fold(
                known("a", "u1", "Job/one", 0), known("b", "u2", "Job/two", 0), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.held(2 * hour, holding("a", "u1", "g0")));
        // Then
        assertThat(node.ledger().knowsPod("u1")).isTrue();
        assertThat(node.ledger().knowsPod("u2")).isFalse();
        // When
        node.fold(node.held(3 * hour));
        assertThat(node.ledger().knowsPod("u1")).isTrue();
        node.fold(node.held(5 * hour));
        // Then
        assertThat(node.ledger().knowsPod("u1")).isFalse();
    }

    @Test
    void podThatIsOverIsForgottenWithItsLastInterval() {
        for (int minute = 0; minute < 59; minute++) {
            Holding[] held = new Holding[8];
            for (int gpu = 0; gpu < held.length; gpu++) {
                String pod = "p" + minute + "-" + gpu;
                node.fold(known(pod, "u-" + pod, "Job/" + pod, 60 * minute));
                held[gpu] = holding(pod, "u-" + pod, "g" + gpu);
            }
            node.fold(node.held(60 * minute, held));
            for (int gpu = 0; gpu < held.length; gpu++) {
                String pod = "p" + minute + "-" + gpu;
                node.fold(podFinished(pod, "u-" + pod, 60 * minute + 50));
            }
        }
        // When all 472 were seen within the hour
        node.fold(node.held(60 * 59));
        // Then
        Set<String> withInterval = node.ledger().closed().intervals().stream()
                .map(interval -> interval.holding().holder().podUid())
                .collect(Collectors.toSet());
        assertThat(node.ledger().closed().knownPods())
                .extracting(KnownPod::podUid)
                .containsExactlyInAnyOrderElementsOf(withInterval)
                .hasSizeLessThan(236);
    }

    @Test
    void podThatEndedAWhileAgoAndIsStillListedIsKnown() {
        node.fold(known("a", "u1", "Job/one", 0), podFinished("a", "u1", 10));

        node.fold(node.held(3_000, holding("a", "u1", "g0")));

        assertThat(attributes(holding("a", "u1", "g0")).owner()).isEqualTo("Job/one");
    }

    @Test
    void manyPodsWithLongLabelsTakeABoundedPartOfTheState() {
        for (int pod = 0; pod < 2_000; pod++) {
            Map<String, String> labels = new TreeMap<>();
            for (int label = 0; label < 20; label++) {
                labels.put("k" + label + "x".repeat(300), "v".repeat(63));
            }
            node.fold(new LedgerFact.PodKnown(
                    new KnownPod("ml", "p" + pod, "u" + pod, "o".repeat(9_000), new TreeMap<>(labels), at(pod))));
        }
        List<KnownPod> pods = node.ledger().closed().knownPods();
        assertThat(pods).allMatch(pod -> pod.labels().size() == PodLabels.MAX_LABELS);
        assertThat(pods.stream().mapToInt(KnownPod::bytes).sum()).isBetween(150_000, 192 * 1_024);
        assertThat(node.ledger().knowsPod("u1999")).isTrue();
    }

    @Test
    void labelThatKubernetesWouldRefuseIsLeftOut() {
        assertThat(PodLabels.bounded(Map.of("team", "v".repeat(64), "k".repeat(318), "v", "app", "ok")))
                .isEqualTo(Map.of("app", "ok"));
    }

    @Test
    void productIsThatOfTheGpuAlsoOfItsMigDevices() {
        var models = List.of(
                new GpuModel("NVIDIA A100-SXM4-80GB", "A100", 1, List.of("g0")),
                new GpuModel("NVIDIA A100-SXM4-40GB", "A100", 1, List.of("g1")));
        node.fold(new LedgerFact.GpusAnnounced(new AnnouncedGpus(models, new TreeSet<>(), Map.of("MIG-1", "g1"))));
        assertThat(attributes(holding("a", "u1", "g0")).product()).isEqualTo("NVIDIA-A100-SXM4-80GB");
        assertThat(attributes(holding("a", "u1", "MIG-1")).product()).isEqualTo("NVIDIA-A100-SXM4-40GB");
        assertThat(attributes(holding("a", "u1", "g7")).product()).isEmpty();
    }

    @Test
    void productOfAStateOfAnEarlierReleaseIsThatOfTheOnlyModel() {
        var announced =
                new AnnouncedGpus(List.of(new GpuModel("NVIDIA A100-SXM4-80GB", "A100", 8)), new TreeSet<>(), Map.of());
        node.fold(new LedgerFact.GpusAnnounced(announced));
        assertThat(attributes(holding("a", "u1", "g0")).product()).isEqualTo("NVIDIA-A100-SXM4-80GB");
    }
}
