package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.POLICY;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static io.gpufleet.nodedaemon.model.device.TestGpus.xid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeStateTest {
    private static final Holder HOLDER = new Holder("ns", "pod", "uid", "main", "nvidia.com/gpu", List.of(uuid(0)));

    private final List<String> order = new ArrayList<>();
    private final List<NodeFact> facts = new ArrayList<>();
    private final InMemoryStateStore store = new InMemoryStateStore();
    private DeviceList shown = new DeviceList(0, List.of());

    private static final class InMemoryStateStore implements StateStore {
        private StoredState kept = StoredState.empty(0);

        @Override
        public StoredState load() {
            return kept;
        }

        @Override
        public void save(StoredState state) {
            kept = state;
        }
    }

    private NodeState nodeState(String bootId, Overlay overlay, boolean obey, double at) {
        var handler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> second(at),
                new DaemonCounters(),
                _ -> {});
        var outputs = new NodeOutputs(
                (fact, _) -> {
                    facts.add(fact);
                    order.add(fact.getClass().getSimpleName());
                },
                store,
                handler,
                lists -> {
                    shown = lists.getOrDefault(ResourcePlan.GPU, shown);
                    order.add("shown");
                },
                new DaemonCounters());
        return new NodeState(
                new HostInfo("0.1.0", "simulated", "6.1", "", bootId, Duration.ofDays(1)),
                POLICY,
                new CentralVerdictSettings(overlay, obey),
                outputs,
                second(at));
    }

    private NodeState started() {
        NodeState state = nodeState("boot-1", Overlay.TRUST, true, 0);
        state.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));
        order.clear();
        facts.clear();
        return state;
    }

    private List<String> healthyIds() {
        return shown.devices().stream()
                .filter(OfferedDevice::healthy)
                .map(OfferedDevice::id)
                .toList();
    }

    private <F extends NodeFact> List<F> published(Class<F> type) {
        return facts.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Test
    void nothingIsPublishedBeforeTheFirstScan() {
        NodeState state = nodeState("boot-1", Overlay.TRUST, true, 0);
        state.handle(new NodeLoopInput.Tick(), second(1));
        state.handle(new NodeLoopInput.OverlayChanged(Overlay.TRUST), second(2));

        assertThat(order).isEmpty();
    }

    @Test
    void firstScanPublishesAnnouncesAndListsOpenFaults() {
        NodeState state = nodeState("boot-1", Overlay.TRUST, true, 0);

        state.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
        assertThat(published(NodeFact.Announced.class))
                .extracting(NodeFact.Announced::reason)
                .containsExactly(NodeFact.Reason.START);
        assertThat(published(NodeFact.FaultsOpen.class)).isNotEmpty();
    }

    @Test
    void faultIsPublishedToTheKubeletBeforeKafka() {
        NodeState state = started();

        state.handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));

        assertThat(order).containsExactly("shown", "FaultObserved", "Offered", "FaultsOpen", "Announced");
        assertThat(healthyIds()).containsExactly(uuid(1));
    }

    @Test
    void faultNamesThePodsThatHeldTheDevice() {
        NodeState state = started();
        state.handle(new NodeLoopInput.HoldingsListed(new Holdings(List.of(HOLDER), true)), second(1));

        state.handle(new NodeLoopInput.DeviceEventReceived(xid(0, 31, FaultOrigin.NVML_EVENT)), second(2));
        state.handle(new NodeLoopInput.DeviceEventReceived(xid(1, 31, FaultOrigin.NVML_EVENT)), second(2));

        assertThat(published(NodeFact.FaultObserved.class))
                .extracting(NodeFact.FaultObserved::holders)
                .containsExactly(List.of(HOLDER), List.of());
    }

    @Test
    void repeatedFaultIsObservedEachTimeButListedOnce() {
        NodeState state = started();

        for (int i = 0; i < 5; i++) {
            state.handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1 + i));
        }

        assertThat(published(NodeFact.FaultObserved.class)).hasSize(5);
        assertThat(published(NodeFact.FaultsOpen.class)).hasSize(1);
        assertThat(published(NodeFact.Offered.class)).hasSize(1);
    }

    @Test
    void openFaultsAreRepeatedEveryMinuteWhileThereAreAny() {
        NodeState state = started();
        state.handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        for (int at = 2; at <= 181; at++) {
            state.handle(new NodeLoopInput.Tick(), second(at));
        }

        assertThat(published(NodeFact.FaultsOpen.class)).hasSize(4);
    }

    @Test
    void deviceReturnsAfterTheDwellAndIsReported() {
        NodeState state = started();
        state.handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        state.handle(
                new NodeLoopInput.DeviceEventReceived(
                        new DeviceEvent.CauseResolved(uuid(0), new FaultCode.Xid(79), "reset")),
                second(10));

        state.handle(new NodeLoopInput.Tick(), second(309));
        assertThat(healthyIds()).containsExactly(uuid(1));
        state.handle(new NodeLoopInput.Tick(), second(310));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
        assertThat(published(NodeFact.FaultCleared.class)).hasSize(1);
    }

    @Test
    void localRecoveryNeverWaitsForTheVerdict() {
        // Given a device that local health and verdict withdraw
        NodeState state = started();
        state.handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        state.handle(
                new NodeLoopInput.OverlayChanged(new Overlay(1, "boot-1", false, Map.of(uuid(0), "Xid79"))), second(2));

        // When its local fault is cleared
        state.handle(
                new NodeLoopInput.DeviceEventReceived(
                        new DeviceEvent.CauseResolved(uuid(0), new FaultCode.Xid(79), "reset")),
                second(10));
        state.handle(new NodeLoopInput.Tick(), second(310));

        // Then its local health is published although the verdict still withdraws it
        assertThat(published(NodeFact.FaultCleared.class)).hasSize(1);
        assertThat(published(NodeFact.Offered.class).getLast().offer())
                .matches(offer ->
                        offer.health().locallyHealthy() && !offer.health().overlayAllows() && !offer.healthy());
    }

    @Test
    void verdictWithdrawsLocallyHealthyDevice() {
        NodeState state = started();

        state.handle(
                new NodeLoopInput.OverlayChanged(new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand"))),
                second(1));

        assertThat(healthyIds()).containsExactly(uuid(0));
    }

    @Test
    void verdictOnTheWholeNodeWithdrawsEveryDeviceUntilTheNextOne() {
        NodeState state = started();

        state.handle(
                new NodeLoopInput.OverlayChanged(
                        new Overlay(1, "boot-1", true, "Quarantined", Map.of(uuid(1), "Xid79"))),
                second(1));

        assertThat(healthyIds()).isEmpty();
        assertThat(published(NodeFact.Offered.class))
                .extracting(fact -> fact.offer().health().reason())
                .contains("verdict: Quarantined", "verdict: Xid79");

        state.handle(new NodeLoopInput.OverlayChanged(new Overlay(2, "boot-1", true, Map.of())), second(2));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void savedVerdictOnTheWholeNodeAppliesFromTheFirstListAndOneOfAFormerBootDoesNot() {
        Overlay byHand = new Overlay(1, "boot-1", true, "Quarantined", Map.of());
        nodeState("boot-2", byHand, true, 0).handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));
        assertThat(healthyIds()).isEmpty();

        Overlay ofThatBoot = new Overlay(1, "boot-1", false, "Sxid", Map.of());
        nodeState("boot-2", ofThatBoot, true, 0).handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));
        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void verdictThatIsNotObeyedWithdrawsNothing() {
        NodeState state = nodeState("boot-1", new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand")), false, 0);

        state.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void breakGlassIgnoresVerdictsUntilItIsRemoved() {
        NodeState state = nodeState("boot-1", new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand")), true, 0);
        state.handle(new NodeLoopInput.VerdictsIgnored(true), second(0));
        state.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));
        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));

        state.handle(new NodeLoopInput.VerdictsIgnored(false), second(1));

        assertThat(healthyIds()).containsExactly(uuid(0));
    }

    @Test
    void storedVerdictAppliesFromTheFirstList() {
        NodeState state = nodeState("boot-1", new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand")), true, 0);

        state.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(0));

        assertThat(healthyIds()).containsExactly(uuid(0));
        assertThat(order.stream().filter("shown"::equals)).hasSize(1);
    }

    @Test
    void faultOutlivesTheProcess() {
        started().handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));

        NodeState next = nodeState("boot-1", Overlay.TRUST, true, 100);
        next.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(100));

        assertThat(healthyIds()).containsExactly(uuid(1));
    }

    @Test
    void faultEndsWithTheBoot() {
        started().handle(new NodeLoopInput.DeviceEventReceived(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        facts.clear();

        NodeState next = nodeState("boot-2", Overlay.TRUST, true, 100);
        next.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(100));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
        assertThat(published(NodeFact.FaultCleared.class))
                .extracting(NodeFact.FaultCleared::proof)
                .containsExactly("new boot id boot-2");
    }

    @Test
    void missingDriverWithdrawsAllAndIsAFaultUntilItResponds() {
        NodeState state = started();

        state.handle(
                new NodeLoopInput.DevicesScanned(
                        new DeviceScan.ScanFailed(DeviceScan.DriverProblem.NOT_LOADED, "gone")),
                second(1));
        assertThat(healthyIds()).isEmpty();
        assertThat(shown.devices()).hasSize(2);
        state.handle(new NodeLoopInput.DevicesScanned(scanOf(2)), second(2));

        assertThat(healthyIds()).hasSize(2);
        assertThat(published(NodeFact.FaultObserved.class)).hasSize(1);
        assertThat(published(NodeFact.FaultCleared.class)).hasSize(1);
    }

    @Test
    void nodeWithoutAnyDriverIsNoFault() {
        NodeState state = nodeState("boot-1", Overlay.TRUST, true, 0);

        state.handle(
                new NodeLoopInput.DevicesScanned(
                        new DeviceScan.ScanFailed(DeviceScan.DriverProblem.LIBRARY_ABSENT, "none")),
                second(0));

        assertThat(published(NodeFact.FaultObserved.class)).isEmpty();
        assertThat(published(NodeFact.Announced.class)).hasSize(1);
    }

    @Test
    void eventLossIsFollowedBySnapshots() {
        NodeState state = started();

        state.handle(new NodeLoopInput.BacklogSent(true), second(1));

        assertThat(order).containsExactly("FaultsOpen", "Announced", "Held");
        assertThat(published(NodeFact.Announced.class))
                .extracting(NodeFact.Announced::reason)
                .containsExactly(NodeFact.Reason.AFTER_LOSS);
    }

    @Test
    void unchangedHoldersAreNotPublishedAgain() {
        NodeState state = started();

        state.handle(new NodeLoopInput.HoldingsListed(new Holdings(List.of(HOLDER), true)), second(1));
        state.handle(new NodeLoopInput.HoldingsListed(new Holdings(List.of(HOLDER), true)), second(11));
        state.handle(new NodeLoopInput.HoldingsListed(new Holdings(List.of(), true)), second(21));

        assertThat(published(NodeFact.Held.class)).hasSize(2);
    }

    @Test
    void snapshotsAreRepeatedWithinSixHours() {
        NodeState state = started();

        for (int minute = 0; minute <= 12 * 60 + 1; minute++) {
            state.handle(new NodeLoopInput.Tick(), second(60.0 * minute));
        }

        assertThat(published(NodeFact.Announced.class))
                .hasSize(2)
                .allMatch(announced -> announced.reason() == NodeFact.Reason.PERIODIC);
        assertThat(published(NodeFact.Held.class)).hasSize(2);
    }
}
