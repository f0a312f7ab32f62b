package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.POLICY;
import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static io.gpufleet.nodedaemon.model.Some.xid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OffersTest {
    private static final HealthBook WELL = HealthBook.inheriting(POLICY, List.of(), second(0));
    private static final HealthBook BROKEN = WELL.observe(xid(0, 79, FaultOrigin.NVML_EVENT), Some.SUBJECT, second(0))
            .next();
    private static final Overlay DISTRUST = new Overlay(1, "", true, Map.of(uuid(0), "Xid79"));
    private static final DeviceBook TWO =
            DeviceBook.remembering(List.of(), second(0)).after(seen(2), second(0));

    private static List<PlannedDevice> plan(DeviceBook book) {
        return ResourcePlan.of(book.gpus(), PluginSettings.STANDARD).devices();
    }

    private static Offer first(HealthBook health, Overlay overlay) {
        return Offers.NONE
                                .next(
                                        plan(TWO),
                                        TWO.lastLook(),
                                        health,
                                        new Surroundings(overlay, Set.of(), Map.of()),
                                        second(0))
                                .listed()
                                .get(uuid(0))
                        instanceof Offer offer
                ? offer
                : Some.offer(0, false, "not listed");
    }

    @Test
    void deviceIsOfferedOnlyWhenBothOpinionsAgree() {
        assertThat(first(WELL, Overlay.TRUST).healthy()).isTrue();
        assertThat(first(BROKEN, Overlay.TRUST).healthy()).isFalse();
        assertThat(first(WELL, DISTRUST).healthy()).isFalse();
        assertThat(first(BROKEN, DISTRUST).healthy()).isFalse();
    }

    @Test
    void opinionsStayApart() {
        Offer offer = first(WELL, DISTRUST);

        assertThat(offer.locallyHealthy()).isTrue();
        assertThat(offer.overlayAllows()).isFalse();
        assertThat(offer.reason()).isEqualTo("verdict: Xid79");
    }

    @Test
    void reasonNamesBothObjections() {
        assertThat(first(BROKEN, DISTRUST).reason()).isEqualTo("xid-79; verdict: Xid79");
    }

    @Test
    void blindDriverWithdrawsEverythingButEmptiesNothing() {
        DeviceBook blind = TWO.after(new Look.Blind(Look.DriverTrouble.NOT_LOADED, "DRIVER_NOT_LOADED"), second(1));

        Offers offers = Offers.NONE.next(
                plan(blind), blind.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(1));

        assertThat(offers.listed()).hasSize(2);
        assertThat(offers.listed().values()).noneMatch(Offer::healthy);
    }

    @Test
    void removedDeviceLeavesTheListAfterAMinuteUnhealthy() {
        // Given a node that loses its second GPU, place and all
        Offers before = Offers.NONE.next(
                plan(TWO), TWO.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(0));
        DeviceBook removed = TWO.after(seen(1), second(10));

        // When time passes
        Offers atOnce = before.next(
                plan(removed),
                removed.lastLook(),
                WELL,
                new Surroundings(Overlay.TRUST, Set.of(), Map.of()),
                second(10));
        Offers soon = atOnce.next(
                plan(removed),
                removed.lastLook(),
                WELL,
                new Surroundings(Overlay.TRUST, Set.of(), Map.of()),
                second(69));
        Offers later = soon.next(
                plan(removed),
                removed.lastLook(),
                WELL,
                new Surroundings(Overlay.TRUST, Set.of(), Map.of()),
                second(70));

        // Then it is Unhealthy first and gone only then
        assertThat(atOnce.listed().get(uuid(1))).isNotNull().matches(offer -> !offer.healthy());
        assertThat(soon.listed()).containsKey(uuid(1));
        assertThat(later.listed()).doesNotContainKey(uuid(1));
    }

    @Test
    void heldDeviceStaysListedHoweverLongItIsGone() {
        Offers before = Offers.NONE.next(
                plan(TWO), TWO.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(0));
        DeviceBook removed = TWO.after(seen(1), second(10));

        Offers unhealthy = before.next(
                plan(removed),
                removed.lastLook(),
                WELL,
                new Surroundings(Overlay.TRUST, Set.of(uuid(1)), Map.of()),
                second(10));
        Offers later = unhealthy.next(
                plan(removed),
                removed.lastLook(),
                WELL,
                new Surroundings(Overlay.TRUST, Set.of(uuid(1)), Map.of()),
                second(10_000));

        assertThat(later.listed()).containsKey(uuid(1));
    }

    @Test
    void lostDeviceWhosePlaceIsThereStaysListed() {
        Offers before = Offers.NONE.next(
                plan(TWO), TWO.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(0));
        DeviceBook lost = TWO.after(
                new Look.Seen(
                        "570", "12.8", List.of(Some.gpu(0)), List.of(new Look.LostGpu(1, "00000001:00:00.0", "LOST"))),
                second(10));

        Offers unhealthy = before.next(
                plan(lost), lost.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(10));
        Offers later = unhealthy.next(
                plan(lost), lost.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(10_000));

        assertThat(later.listed().get(uuid(1)))
                .isNotNull()
                .matches(offer -> offer.reason().contains("LOST"));
    }

    @Test
    void gpuRememberedFromBeforeTheStartIsListedUnhealthyUnderItsId() {
        DeviceBook book = DeviceBook.remembering(List.of(Some.gpu(0), Some.gpu(1)), second(0))
                .after(
                        new Look.Seen(
                                "570",
                                "12.8",
                                List.of(Some.gpu(0)),
                                List.of(new Look.LostGpu(1, "00000001:00:00.0", "GPU_IS_LOST"))),
                        second(1));

        Offers offers = Offers.NONE.next(
                plan(book), book.lastLook(), WELL, new Surroundings(Overlay.TRUST, Set.of(), Map.of()), second(1));

        assertThat(offers.listed().get(uuid(1))).isNotNull().matches(offer -> !offer.healthy());
    }

    @Test
    void gpuReplacedByAnotherInItsPlaceIsForgotten() {
        DeviceBook book = DeviceBook.remembering(List.of(Some.gpu(0)), second(0));
        Gpu other = Some.gpu(1);
        Gpu inItsPlace = new Gpu(
                other.uuid(),
                other.serial(),
                0,
                0,
                Some.gpu(0).pciBusId(),
                other.model(),
                other.shortModel(),
                other.family(),
                other.computeCapability(),
                other.memoryBytes(),
                other.vbiosVersion(),
                other.numaNode(),
                other.migEnabled(),
                List.of(),
                other.fabricClique(),
                other.mode(),
                List.of(),
                new Reading.Unavailable<>("not read"),
                new Reading.Unavailable<>("not read"));

        DeviceBook after = book.after(new Look.Seen("570", "12.8", List.of(inItsPlace), List.of()), second(1));

        assertThat(after.gpus()).extracting(known -> known.gpu().uuid()).containsExactly(uuid(1));
    }

    @Test
    void verdictOfAnEarlierBootCountsOnlyWhereItSurvives() {
        var dies = new Overlay(3, "boot-1", false, Map.of(uuid(0), "Xid79"));
        var survives = new Overlay(3, "boot-1", true, Map.of(uuid(0), "Xid79"));

        assertThat(dies.inForce("boot-1").objection(uuid(0))).isEqualTo("Xid79");
        assertThat(dies.inForce("boot-2").objection(uuid(0))).isEmpty();
        assertThat(survives.inForce("boot-2").objection(uuid(0))).isEqualTo("Xid79");
    }
}
