package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.POLICY;
import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static io.gpufleet.nodedaemon.model.Some.xid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeBookTest {
    private static final Holder HOLDER = new Holder("ns", "pod", "uid", "main", "nvidia.com/gpu", List.of(uuid(0)));

    private final List<String> order = new ArrayList<>();
    private final List<Fact> facts = new ArrayList<>();
    private final KeptInMemory store = new KeptInMemory();
    private DeviceList shown = new DeviceList(0, List.of());

    private static final class KeptInMemory implements StateStore {
        private Remembered kept = Remembered.NOTHING;

        @Override
        public Remembered load() {
            return kept;
        }

        @Override
        public void save(Remembered state) {
            kept = state;
        }
    }

    private NodeBook book(String bootId, Overlay overlay, boolean obey, double at) {
        var desk = new KubeletDesk(
                new Allocator(PluginSettings.STANDARD, HostNodes.of(List.of())),
                () -> second(at),
                new Counters(),
                _ -> {});
        var doors = new NodeDoors(
                (fact, _) -> {
                    facts.add(fact);
                    order.add(fact.getClass().getSimpleName());
                },
                store,
                desk,
                lists -> {
                    shown = lists.getOrDefault(ResourcePlan.GPU, shown);
                    order.add("shown");
                },
                new Counters());
        return new NodeBook(
                new HostFacts("0.1.0", "simulated", "6.1", "", bootId, Duration.ofDays(1)),
                POLICY,
                overlay,
                obey,
                doors,
                second(at));
    }

    private NodeBook started() {
        NodeBook book = book("boot-1", Overlay.TRUST, true, 0);
        book.handle(new Input.Looked(seen(2)), second(0));
        order.clear();
        facts.clear();
        return book;
    }

    private List<String> healthyIds() {
        return shown.devices().stream().filter(Offer::healthy).map(Offer::id).toList();
    }

    private <F extends Fact> List<F> told(Class<F> type) {
        return facts.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Test
    void nothingIsShownBeforeSomebodyLooked() {
        NodeBook book = book("boot-1", Overlay.TRUST, true, 0);
        book.handle(new Input.Tick(), second(1));
        book.handle(new Input.OverlayRead(Overlay.TRUST), second(2));

        assertThat(order).isEmpty();
    }

    @Test
    void firstLookShowsAnnouncesAndListsOpenFaults() {
        NodeBook book = book("boot-1", Overlay.TRUST, true, 0);

        book.handle(new Input.Looked(seen(2)), second(0));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
        assertThat(told(Fact.Announced.class))
                .extracting(Fact.Announced::reason)
                .containsExactly(Fact.Reason.START);
        assertThat(told(Fact.FaultsOpen.class)).isNotEmpty();
    }

    @Test
    void kubeletIsShownAFaultBeforeTheBusIsToldOfIt() {
        NodeBook book = started();

        book.handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));

        assertThat(order).containsExactly("shown", "FaultObserved", "Offered", "FaultsOpen", "Announced");
        assertThat(healthyIds()).containsExactly(uuid(1));
    }

    @Test
    void faultNamesThePodsThatHeldTheDevice() {
        NodeBook book = started();
        book.handle(new Input.HoldingsSeen(new Holdings(List.of(HOLDER), true)), second(1));

        book.handle(new Input.Noticed(xid(0, 31, FaultOrigin.NVML_EVENT)), second(2));
        book.handle(new Input.Noticed(xid(1, 31, FaultOrigin.NVML_EVENT)), second(2));

        assertThat(told(Fact.FaultObserved.class))
                .extracting(Fact.FaultObserved::holders)
                .containsExactly(List.of(HOLDER), List.of());
    }

    @Test
    void repeatedFaultIsObservedEachTimeButListedOnce() {
        NodeBook book = started();

        for (int i = 0; i < 5; i++) {
            book.handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1 + i));
        }

        assertThat(told(Fact.FaultObserved.class)).hasSize(5);
        assertThat(told(Fact.FaultsOpen.class)).hasSize(1);
        assertThat(told(Fact.Offered.class)).hasSize(1);
    }

    @Test
    void openFaultsAreRepeatedEveryMinuteWhileThereAreAny() {
        NodeBook book = started();
        book.handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        for (int at = 2; at <= 181; at++) {
            book.handle(new Input.Tick(), second(at));
        }

        assertThat(told(Fact.FaultsOpen.class)).hasSize(4);
    }

    @Test
    void deviceComesBackAfterTheDwellAndSaysSo() {
        NodeBook book = started();
        book.handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        book.handle(new Input.Noticed(new Sign.CauseGone(uuid(0), new FaultCode.Xid(79), "reset")), second(10));

        book.handle(new Input.Tick(), second(309));
        assertThat(healthyIds()).containsExactly(uuid(1));
        book.handle(new Input.Tick(), second(310));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
        assertThat(told(Fact.FaultCleared.class)).hasSize(1);
    }

    @Test
    void localRecoveryNeverWaitsForTheCentre() {
        // Given a device that both distrust
        NodeBook book = started();
        book.handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        book.handle(new Input.OverlayRead(new Overlay(1, "boot-1", false, Map.of(uuid(0), "Xid79"))), second(2));

        // When it is well again
        book.handle(new Input.Noticed(new Sign.CauseGone(uuid(0), new FaultCode.Xid(79), "reset")), second(10));
        book.handle(new Input.Tick(), second(310));

        // Then the daemon says so although the verdict still holds it back
        assertThat(told(Fact.FaultCleared.class)).hasSize(1);
        assertThat(told(Fact.Offered.class).getLast().offer())
                .matches(offer -> offer.locallyHealthy() && !offer.overlayAllows() && !offer.healthy());
    }

    @Test
    void verdictWithdrawsWhatTheDaemonTrusts() {
        NodeBook book = started();

        book.handle(new Input.OverlayRead(new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand"))), second(1));

        assertThat(healthyIds()).containsExactly(uuid(0));
    }

    @Test
    void recordedVerdictWithdrawsNothing() {
        NodeBook book = book("boot-1", new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand")), false, 0);

        book.handle(new Input.Looked(seen(2)), second(0));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void brokenGlassSetsVerdictsAsideUntilItIsMended() {
        NodeBook book = book("boot-1", new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand")), true, 0);
        book.handle(new Input.VerdictsIgnored(true), second(0));
        book.handle(new Input.Looked(seen(2)), second(0));
        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));

        book.handle(new Input.VerdictsIgnored(false), second(1));

        assertThat(healthyIds()).containsExactly(uuid(0));
    }

    @Test
    void keptVerdictIsObeyedFromTheFirstList() {
        NodeBook book = book("boot-1", new Overlay(1, "boot-1", false, Map.of(uuid(1), "ByHand")), true, 0);

        book.handle(new Input.Looked(seen(2)), second(0));

        assertThat(healthyIds()).containsExactly(uuid(0));
        assertThat(order.stream().filter("shown"::equals)).hasSize(1);
    }

    @Test
    void faultOutlivesTheProcess() {
        started().handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));

        NodeBook next = book("boot-1", Overlay.TRUST, true, 100);
        next.handle(new Input.Looked(seen(2)), second(100));

        assertThat(healthyIds()).containsExactly(uuid(1));
    }

    @Test
    void faultEndsWithTheBoot() {
        started().handle(new Input.Noticed(xid(0, 79, FaultOrigin.NVML_EVENT)), second(1));
        facts.clear();

        NodeBook next = book("boot-2", Overlay.TRUST, true, 100);
        next.handle(new Input.Looked(seen(2)), second(100));

        assertThat(healthyIds()).containsExactly(uuid(0), uuid(1));
        assertThat(told(Fact.FaultCleared.class))
                .extracting(Fact.FaultCleared::proof)
                .containsExactly("new boot id boot-2");
    }

    @Test
    void goneDriverWithdrawsAllAndIsAFaultUntilItAnswers() {
        NodeBook book = started();

        book.handle(new Input.Looked(new Look.Blind(Look.DriverTrouble.NOT_LOADED, "gone")), second(1));
        assertThat(healthyIds()).isEmpty();
        assertThat(shown.devices()).hasSize(2);
        book.handle(new Input.Looked(seen(2)), second(2));

        assertThat(healthyIds()).hasSize(2);
        assertThat(told(Fact.FaultObserved.class)).hasSize(1);
        assertThat(told(Fact.FaultCleared.class)).hasSize(1);
    }

    @Test
    void nodeWithoutAnyDriverIsNoFault() {
        NodeBook book = book("boot-1", Overlay.TRUST, true, 0);

        book.handle(new Input.Looked(new Look.Blind(Look.DriverTrouble.LIBRARY_ABSENT, "none")), second(0));

        assertThat(told(Fact.FaultObserved.class)).isEmpty();
        assertThat(told(Fact.Announced.class)).hasSize(1);
    }

    @Test
    void lossIsFollowedBySnapshots() {
        NodeBook book = started();

        book.handle(new Input.BacklogSent(true), second(1));

        assertThat(order).containsExactly("FaultsOpen", "Announced", "Held");
        assertThat(told(Fact.Announced.class))
                .extracting(Fact.Announced::reason)
                .containsExactly(Fact.Reason.AFTER_LOSS);
    }

    @Test
    void unchangedHoldersAreNotToldAgain() {
        NodeBook book = started();

        book.handle(new Input.HoldingsSeen(new Holdings(List.of(HOLDER), true)), second(1));
        book.handle(new Input.HoldingsSeen(new Holdings(List.of(HOLDER), true)), second(11));
        book.handle(new Input.HoldingsSeen(new Holdings(List.of(), true)), second(21));

        assertThat(told(Fact.Held.class)).hasSize(2);
    }

    @Test
    void snapshotsAreRepeatedWithinSixHours() {
        NodeBook book = started();

        for (int minute = 0; minute <= 12 * 60 + 1; minute++) {
            book.handle(new Input.Tick(), second(60.0 * minute));
        }

        assertThat(told(Fact.Announced.class))
                .hasSize(2)
                .allMatch(announced -> announced.reason() == Fact.Reason.PERIODIC);
        assertThat(told(Fact.Held.class)).hasSize(2);
    }
}
