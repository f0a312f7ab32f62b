package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.fleet;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.TestNodes;
import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.label.NodeLabels;
import io.gpufleet.inventory.model.taint.NodeTaint;
import io.gpufleet.inventory.model.taint.NodeTaints;
import io.gpufleet.inventory.model.taint.TaintPlan;
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Writes, conflicts, retries and reports of the reconciler. */
class LabelReconcilerTest {
    private static final NodeTaint GPU = new NodeTaint("nvidia.com/gpu", "present", "NoSchedule");
    private static final Set<LabelGroup> GROUPS =
            Set.of(LabelGroup.GPU_TYPE, LabelGroup.ACCELERATOR, LabelGroup.DRIVER_INSTALLER);
    private static final Duration CONFLICT_RETRY = Duration.ofMinutes(1);
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(64));

    private static final class RecordingSignalSink implements SignalSink {
        final List<String> lines = new ArrayList<>();

        @Override
        public void nodeObserved(NodeObject node) {}

        @Override
        public void nodeDeleted(String node, String uid) {}

        @Override
        public synchronized void labelsApplied(
                String node, String uid, long revision, List<String> conflicts, String error) {
            lines.add(conflicts + error);
        }
    }

    private final FakeNodeWriter api = new FakeNodeWriter();
    private final RecordingSignalSink signals = new RecordingSignalSink();
    private final ManualScheduler scheduler = ManualScheduler.atOnce();
    private volatile Fleet fleet = fleet(node("n1", announcement(a100(0))));
    private final LabelDifferences differences = new LabelDifferences();
    private final LabelReconciler reconciler = reconciler(Set.of(), LabelMode.WRITE);

    private LabelReconciler reconciler(Set<NodeTaint> taints, LabelMode mode) {
        var settings = new LabelReconciler.ReconcilerSettings(GROUPS, taints, mode, BACKOFF, CONFLICT_RETRY);
        return new LabelReconciler(() -> fleet, api, signals, scheduler, settings, differences);
    }

    private void setNode(NodeState node) {
        fleet = fleet(node);
        reconciler.enqueue("n1");
    }

    @Test
    void observedNodeIsLabelledOnce() {
        reconciler.onChanged(api.object());
        reconciler.onChanged(api.object());

        assertThat(api.object().labels()).isEqualTo(Map.of("gpu-type", "a100", "accelerator", "nvidia-tesla-a100"));
        assertThat(api.written).hasSize(1);
        assertThat(signals.lines).containsExactly("[]");
    }

    @Test
    void changedModelChangesTheLabels() {
        reconciler.onChanged(api.object());
        setNode(node("n1", announcement(h100(0))));

        assertThat(api.object().labels()).isEqualTo(Map.of("gpu-type", "h100", "accelerator", "nvidia-h100"));
    }

    @Test
    void nodeWithoutGpusLosesItsLabels() {
        reconciler.onChanged(api.object());
        setNode(node("n1", announcement()));

        assertThat(api.object().labels()).isEmpty();
    }

    @Test
    void installerLabelsANodeWithoutDriverAndEachOfItsStatesIsAnEvent() {
        reconciler.onChanged(api.object());
        setNode(installing("n1", "downloading driver 580"));
        assertThat(api.object().labels())
                .doesNotContainKey(NodeLabels.INSTALLER)
                .containsKey("gpu-type");

        // Where GPUs were never known, the label of the installer is the only one
        setNode(node("n1", announcement()));
        setNode(installing("n1", "downloading driver 580"));
        setNode(installing("n1", "failed: no headers; next attempt in 30 s"));
        setNode(installing("n1", "failed: no headers; next attempt in 60 s"));

        assertThat(api.object().labels()).isEqualTo(Map.of(NodeLabels.INSTALLER, "failed"));
        assertThat(api.object().owned().annotations()).containsValue("failed: no headers; next attempt in 60 s");
        assertThat(api.events)
                .containsExactly(
                        new KubernetesNodeEvent(false, "DriverDownloading", "downloading driver 580"),
                        new KubernetesNodeEvent(true, "DriverFailed", "failed: no headers; next attempt in 30 s"));

        setNode(installing("n1", ""));
        assertThat(api.object().labels()).isEmpty();
    }

    private static NodeState installing(String node, String installer) {
        return node(
                node, TestNodes.withInstaller(TestNodes.withoutDriver(Announcement.DriverState.NOT_LOADED), installer));
    }

    @Test
    void nodeOfAnotherBootIsLeftAlone() {
        api.bootId = "boot-2";
        reconciler.onChanged(api.object());
        assertThat(api.written).isEmpty();

        api.bootId = "";
        reconciler.onChanged(api.object());
        assertThat(api.written).isEmpty();
    }

    @Test
    void nodeThatIsNotManagedIsLeftAlone() {
        api.foreign.put(NodeObject.MANAGED_LABEL, "false");
        reconciler.onChanged(api.object());
        assertThat(api.written).isEmpty();
    }

    @Test
    void labelOfAnotherManagerIsKeptAndReported() {
        api.foreign.put("accelerator", "tpu");
        reconciler.onChanged(api.object());

        assertThat(api.object().labels()).isEqualTo(Map.of("gpu-type", "a100", "accelerator", "tpu"));
        assertThat(signals.lines).containsExactly("[accelerator]");
    }

    @Test
    void releasedLabelKeyIsClaimedAtOnce() {
        api.foreign.put("accelerator", "tpu");
        reconciler.onChanged(api.object());
        api.foreign.clear();
        reconciler.onChanged(api.object());

        assertThat(api.object().labels()).containsEntry("accelerator", "nvidia-tesla-a100");
        assertThat(signals.lines).containsExactly("[accelerator]", "[]");
    }

    @Test
    void conflictingKeyIsRetried() {
        api.foreign.put("accelerator", "tpu");
        reconciler.onChanged(api.object());
        api.foreign.clear();

        scheduler.advance(CONFLICT_RETRY.minusNanos(1));
        assertThat(api.object().labels()).doesNotContainKey("accelerator");
        scheduler.advance(Duration.ofNanos(1));

        assertThat(api.object().labels()).containsEntry("accelerator", "nvidia-tesla-a100");
    }

    @Test
    void failureIsReportedOnceAndRetried() {
        api.failures.addAll(List.of("503 unavailable", "503 unavailable"));
        reconciler.onChanged(api.object());

        assertThat(signals.lines).containsExactly("[]503 unavailable");
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(api.object().labels()).isEmpty();
        scheduler.advance(Duration.ofSeconds(2));

        assertThat(api.object().labels()).containsEntry("gpu-type", "a100");
        assertThat(signals.lines).containsExactly("[]503 unavailable", "[]");
    }

    @Test
    void modeObserveWritesNothingAndCountsTheNodesThatDiffer() {
        // Given
        var observing = reconciler(Set.of(GPU), LabelMode.OBSERVE);
        // When
        observing.onChanged(api.object());
        // Then
        assertThat(api.written).isEmpty();
        assertThat(api.patched).isEmpty();
        assertThat(differences.nodes()).isEqualTo(1);
        // When another program applies the same labels
        api.foreign.putAll(Map.of("gpu-type", "a100", "accelerator", "nvidia-tesla-a100"));
        observing.onChanged(api.object());
        // Then
        assertThat(differences.nodes()).isZero();
        assertThat(signals.lines).isEmpty();
        assertThat(api.patched).isEmpty();
    }

    @Test
    void nodeWithGpusIsTaintedOnceItIsLabelled() {
        // Given
        var tainting = reconciler(Set.of(GPU), LabelMode.WRITE);
        // When
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        // Then
        assertThat(api.taints.present()).containsExactly(GPU);
        assertThat(api.patched).containsExactly("-[] +[nvidia.com/gpu=present:NoSchedule]");
        // When its GPUs are gone
        fleet = fleet(node("n1", announcement()));
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        // Then
        assertThat(api.taints.present()).isEmpty();
    }

    @Test
    void nodeWhoseLabelsAreNotAsDesiredIsNotTainted() {
        // Given
        var tainting = reconciler(Set.of(GPU), LabelMode.WRITE);
        NodeObject unlabelled = api.object();
        // When its labels are written
        tainting.onChanged(unlabelled);
        // Then
        assertThat(api.written).hasSize(1);
        assertThat(api.patched).isEmpty();
        // When the Node is seen with them
        tainting.onChanged(api.object());
        // Then
        assertThat(api.patched).hasSize(1);
    }

    @Test
    void taintStaysWhileTheDriverIsAway() {
        // Given
        var tainting = reconciler(Set.of(GPU), LabelMode.WRITE);
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        assertThat(api.taints.present()).containsExactly(GPU);
        // When
        fleet = fleet(node("n1", TestNodes.withoutDriver(Announcement.DriverState.NOT_LOADED)));
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        // Then
        assertThat(api.taints.present()).containsExactly(GPU);
        assertThat(api.object().labels()).containsEntry("gpu-type", "a100");
    }

    @Test
    void taintStaysOnANodeWithoutLabelsWhileItsDriverIsInstalled() {
        // Given
        var tainting = reconciler(Set.of(GPU), LabelMode.WRITE);
        api.taints = new NodeTaints(List.of(GPU), GPU.toString(), true);
        fleet = fleet(installing("n1", "downloading driver 580"));
        // When
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        // Then
        assertThat(api.object().labels()).containsKey(NodeLabels.INSTALLER);
        assertThat(api.patched).isEmpty();
        assertThat(api.taints.present()).containsExactly(GPU);
    }

    @Test
    void taintIsRemovedWhenTheSettingIsTakenAway() {
        // Given
        api.taints = new NodeTaints(List.of(GPU), GPU.toString(), true);
        // When
        reconciler.onChanged(api.object());
        reconciler.onChanged(api.object());
        // Then
        assertThat(api.taints).isEqualTo(new NodeTaints(List.of(), "", true));
    }

    @Test
    void refusedTaintIsRetriedAndStopsNoLabel() {
        // Given
        api.patchFailures.addAll(List.of("403 forbidden", "422 changed"));
        var tainting = reconciler(Set.of(GPU), LabelMode.WRITE);
        // When
        tainting.onChanged(api.object());
        tainting.onChanged(api.object());
        // Then
        assertThat(api.object().labels()).containsEntry("gpu-type", "a100");
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(api.taints.present()).isEmpty();
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(api.taints.present()).containsExactly(GPU);
    }

    @Test
    void stoppedReconcilerWritesNothing() {
        reconciler.stop();
        reconciler.onChanged(api.object());
        assertThat(api.written).isEmpty();
    }

    @Test
    void writeInFlightIsNotWaitedForAndIsTheLast() {
        // Given a Node that changes while it is written
        var calls = new ArrayList<Runnable>();
        NodeWriter slow = new NodeWriter() {
            @Override
            public ApplyResult apply(String node, String uid, LabelSet labels) {
                calls.forEach(Runnable::run);
                return api.apply(node, uid, labels);
            }

            @Override
            public PatchResult patchTaints(NodeObject observed, TaintPlan plan) {
                return api.patchTaints(observed, plan);
            }

            @Override
            public void recordEvent(NodeObject node, KubernetesNodeEvent event) {
                api.recordEvent(node, event);
            }
        };
        var settings =
                new LabelReconciler.ReconcilerSettings(GROUPS, Set.of(), LabelMode.WRITE, BACKOFF, CONFLICT_RETRY);
        var busy = new LabelReconciler(() -> fleet, slow, signals, scheduler, settings, differences);
        calls.add(() -> busy.enqueue("n1"));
        // When
        calls.add(busy::stop);
        busy.onChanged(api.object());
        fleet = fleet(node("n1", announcement(h100(0))));
        busy.enqueue("n1");
        scheduler.advance(CONFLICT_RETRY);
        // Then
        assertThat(api.written).hasSize(1);
    }
}
