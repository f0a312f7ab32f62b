package io.gpufleet.allocation.kafka;

import static io.gpufleet.allocation.kafka.ProjectedNode.NODE;
import static io.gpufleet.allocation.kafka.ProjectedNode.at;
import static io.gpufleet.allocation.kafka.ProjectedNode.deviceTime;
import static io.gpufleet.allocation.kafka.ProjectedNode.held;
import static io.gpufleet.allocation.kafka.ProjectedNode.usage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.ledger.NodeClock;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.proto.allocation.v1.DeviceInterval;
import io.gpufleet.proto.allocation.v1.UnallocatedUse;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What verdicts, announcements and heartbeats make of the time of devices. */
class DeviceTimeProjectionTest {
    private final ProjectedNode node = new ProjectedNode();

    @Test
    void tombstoneOfAVerdictMakesEveryDeviceTrusted() {
        var distrusted = NodeVerdict.newBuilder()
                .addDevices(DeviceVerdict.newBuilder().setDeviceUuid("g0").setTrusted(false))
                .build();
        node.apply(node.event(Topic.VERDICTS, EventType.VERDICT_REACHED, 0, distrusted));
        assertThat(node.ledger().untrusted()).containsKey("g0");
        // When
        node.apply(new Inbound.Tombstone(Topic.VERDICTS, NODE, at(5)));
        // Then
        assertThat(node.ledger().untrusted()).isEmpty();
    }

    @Test
    void nodeWhoseVerdictWithdrawsEveryDeviceMakesTheTimeOnAllOfThemRefundable() {
        // Given
        node.apply(node.snapshot(0, "a"));
        // When only single devices taint the node
        var tainted = NodeVerdict.newBuilder().setTrusted(false);
        node.apply(node.event(Topic.VERDICTS, EventType.VERDICT_REACHED, 1, tainted.build()));
        // Then
        assertThat(openQualities()).containsExactly(IntervalQuality.ALLOCATED);
        // When the fault is of the whole node
        node.apply(node.event(
                Topic.VERDICTS,
                EventType.VERDICT_REACHED,
                2,
                tainted.setWithdrawsEveryDevice(true).build()));
        // Then
        assertThat(openQualities()).containsExactly(IntervalQuality.ALLOCATED_WHILE_FAULTY);
        // When
        node.apply(new Inbound.Tombstone(Topic.VERDICTS, NODE, at(5)));
        // Then
        assertThat(openQualities()).containsExactly(IntervalQuality.ALLOCATED);
    }

    private List<IntervalQuality> openQualities() {
        return node.ledger().open().values().stream()
                .map(OpenUsageInterval::quality)
                .toList();
    }

    @Test
    void withdrawnGpuIsPublishedAsQuarantinedOnceItIsOfferedAgain() {
        node.apply(node.announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        node.apply(node.announced(10, LocalHealth.LOCAL_HEALTH_UNHEALTHY));
        // When
        Effects<NodeLedger> effects = node.apply(node.announced(30, LocalHealth.LOCAL_HEALTH_HEALTHY));
        // Then
        assertThat(deviceTime(effects)).singleElement().satisfies(interval -> {
            assertThat(interval.getQuality()).isEqualTo(UsageQuality.USAGE_QUALITY_QUARANTINED);
            assertThat(interval.getGpuMilliseconds()).isEqualTo(20_000);
            assertThat(interval.getNode()).isEqualTo(NODE);
            assertThat(interval.getProduct()).isEqualTo("NVIDIA-A100-SXM4-80GB");
        });
    }

    @Test
    void processesWithoutAnAllocationMakeTheTimeUnaccountedOnceTheKubeletIsKnownToHaveAnswered() {
        node.apply(node.announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        var used = held("boot-1").toBuilder()
                .addUnallocated(UnallocatedUse.newBuilder().setDeviceUuid("g0").setProcesses(1));
        node.apply(node.event(
                Topic.ALLOCATION,
                EventType.DEVICES_HELD,
                5,
                used.clone().setComplete(false).build()));
        assertThat(node.ledger().devices().outages()).isEmpty();
        node.apply(node.event(Topic.ALLOCATION, EventType.DEVICES_HELD, 10, used.build()));
        // When
        Effects<NodeLedger> effects = node.apply(node.snapshot(25));
        // Then
        assertThat(deviceTime(effects)).singleElement().satisfies(interval -> {
            assertThat(interval.getQuality()).isEqualTo(UsageQuality.USAGE_QUALITY_UNACCOUNTED);
            assertThat(interval.getGpuMilliseconds()).isEqualTo(15_000);
        });
    }

    @Test
    void intervalOfAnAnnouncedGpuReducesItsIdleTime() {
        node.apply(node.announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        node.apply(node.snapshot(5, "a", "b"));
        // When g0 is announced and g1 is not
        Effects<NodeLedger> effects = node.apply(node.snapshot(10));
        // Then
        assertThat(usage(effects)).extracting(UsageInterval::getReducesIdle).containsExactly(true, false);
    }

    @Test
    void firstHeartbeatAfterASilenceEndsIt() {
        node.apply(node.announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        Instant silent = at(0).plus(NodeClock.TOLERATED_SILENCE);
        node.states.byKey.putAll(
                node.projection.tick(NODE, node.states, silent.plusSeconds(1)).states());
        assertThat(node.ledger().devices().silent()).isTrue();
        // When
        Effects<NodeLedger> effects = node.apply(new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(600)));
        // Then
        assertThat(node.ledger().devices().silent()).isFalse();
        assertThat(deviceTime(effects))
                .extracting(DeviceInterval::getQuality, DeviceInterval::getGpuMilliseconds)
                .containsExactly(tuple(UsageQuality.USAGE_QUALITY_UNREACHABLE, 600_000L));
        // When
        assertThat(node.projection
                        .on(node.states, new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(610)), at(610))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void silenceOfADaemonEndsTheTimeOfItsHolderAtItsLastWord() {
        node.apply(node.snapshot(0, "a"));
        node.apply(new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(100)));
        // When
        Instant silent = at(100).plus(NodeClock.TOLERATED_SILENCE);
        Effects<NodeLedger> effects = node.projection.tick(NODE, node.states, silent.plusSeconds(1));
        // Then
        assertThat(usage(effects)).singleElement().satisfies(interval -> {
            assertThat(interval.getPod()).isEqualTo("a");
            assertThat(interval.getTo().getSeconds()).isEqualTo(at(100).getEpochSecond());
            assertThat(interval.getGpuMilliseconds()).isEqualTo(100_000);
            assertThat(interval.getEndEstimated()).isTrue();
        });
    }

    @Test
    void lastWordOfADaemonWithoutHoldersIsRecordedHourly() {
        node.apply(node.announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        node.apply(node.announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        assertThat(node.projection
                        .on(node.states, new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(3_600)), at(3_600))
                        .isEmpty())
                .isTrue();
        node.apply(new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(3_601)));
        assertThat(node.ledger().clock().heardAt()).isEqualTo(at(3_601));
    }
}
