package io.gpufleet.nodedaemon.model.allocation;

import static io.gpufleet.nodedaemon.model.device.TestGpus.POLICY;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static io.gpufleet.nodedaemon.model.device.TestGpus.xid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OfferedDevicesTest {
    private static final OpenFaults WELL = OpenFaults.restored(POLICY, List.of(), second(0));
    private static final OpenFaults BROKEN = WELL.observe(
                    xid(0, 79, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(0))
            .next();
    private static final Overlay DISTRUST = new Overlay(1, "", true, Map.of(uuid(0), "Xid79"));
    private static final DeviceInventory TWO =
            DeviceInventory.restored(List.of(), second(0)).after(scanOf(2), second(0));

    private static List<PlannedDevice> plan(DeviceInventory inventory) {
        return ResourcePlan.of(inventory.gpus(), PluginSettings.DEFAULT).devices();
    }

    private static OfferedDevice first(OpenFaults health, Overlay overlay) {
        return OfferedDevices.NONE
                                .next(
                                        plan(TWO),
                                        TWO.lastScan(),
                                        health,
                                        new OfferConstraints(overlay, Set.of(), Map.of()),
                                        second(0))
                                .listed()
                                .get(uuid(0))
                        instanceof OfferedDevice offer
                ? offer
                : TestGpus.offer(0, false, "not listed");
    }

    @Test
    void deviceIsHealthyOnlyWhenLocalHealthAndOverlayAgree() {
        assertThat(first(WELL, Overlay.TRUST).healthy()).isTrue();
        assertThat(first(BROKEN, Overlay.TRUST).healthy()).isFalse();
        assertThat(first(WELL, DISTRUST).healthy()).isFalse();
        assertThat(first(BROKEN, DISTRUST).healthy()).isFalse();
    }

    @Test
    void localHealthAndOverlayStaySeparate() {
        OfferedDevice offer = first(WELL, DISTRUST);

        assertThat(offer.health().locallyHealthy()).isTrue();
        assertThat(offer.health().overlayAllows()).isFalse();
        assertThat(offer.health().reason()).isEqualTo("verdict: Xid79");
    }

    @Test
    void reasonNamesLocalFaultAndVerdict() {
        assertThat(first(BROKEN, DISTRUST).health().reason()).isEqualTo("xid-79; verdict: Xid79");
    }

    @Test
    void failedScanWithdrawsEveryDeviceButKeepsTheList() {
        DeviceInventory failed = TWO.after(
                new DeviceScan.ScanFailed(DeviceScan.DriverProblem.NOT_LOADED, "DRIVER_NOT_LOADED"), second(1));

        OfferedDevices offers = OfferedDevices.NONE.next(
                plan(failed),
                failed.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()),
                second(1));

        assertThat(offers.listed()).hasSize(2);
        assertThat(offers.listed().values()).noneMatch(OfferedDevice::healthy);
    }

    @Test
    void removedDeviceLeavesTheListAfterAMinuteUnhealthy() {
        // Given a node whose second GPU is removed
        OfferedDevices before = OfferedDevices.NONE.next(
                plan(TWO), TWO.lastScan(), WELL, new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()), second(0));
        DeviceInventory removed = TWO.after(scanOf(1), second(10));

        // When time passes
        OfferedDevices atOnce = before.next(
                plan(removed),
                removed.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()),
                second(10));
        OfferedDevices soon = atOnce.next(
                plan(removed),
                removed.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()),
                second(69));
        OfferedDevices later = soon.next(
                plan(removed),
                removed.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()),
                second(70));

        // Then it is Unhealthy first and removed afterwards
        assertThat(atOnce.listed().get(uuid(1))).isNotNull().matches(offer -> !offer.healthy());
        assertThat(soon.listed()).containsKey(uuid(1));
        assertThat(later.listed()).doesNotContainKey(uuid(1));
    }

    @Test
    void heldDeviceStaysListedHoweverLongItIsGone() {
        OfferedDevices before = OfferedDevices.NONE.next(
                plan(TWO), TWO.lastScan(), WELL, new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()), second(0));
        DeviceInventory removed = TWO.after(scanOf(1), second(10));

        OfferedDevices unhealthy = before.next(
                plan(removed),
                removed.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(uuid(1)), Map.of()),
                second(10));
        OfferedDevices later = unhealthy.next(
                plan(removed),
                removed.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(uuid(1)), Map.of()),
                second(10_000));

        assertThat(later.listed()).containsKey(uuid(1));
    }

    @Test
    void lostDeviceStillOnPciBusStaysListed() {
        OfferedDevices before = OfferedDevices.NONE.next(
                plan(TWO), TWO.lastScan(), WELL, new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()), second(0));
        DeviceInventory lost = TWO.after(
                new DeviceScan.ScanSucceeded(
                        "570",
                        "12.8",
                        List.of(TestGpus.gpu(0)),
                        List.of(new DeviceScan.LostGpu(1, "00000001:00:00.0", "LOST"))),
                second(10));

        OfferedDevices unhealthy = before.next(
                plan(lost), lost.lastScan(), WELL, new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()), second(10));
        OfferedDevices later = unhealthy.next(
                plan(lost),
                lost.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()),
                second(10_000));

        assertThat(later.listed().get(uuid(1)))
                .isNotNull()
                .matches(offer -> offer.health().reason().contains("LOST"));
    }

    @Test
    void gpuRestoredFromDiskIsListedUnhealthyUnderItsId() {
        DeviceInventory inventory = DeviceInventory.restored(List.of(TestGpus.gpu(0), TestGpus.gpu(1)), second(0))
                .after(
                        new DeviceScan.ScanSucceeded(
                                "570",
                                "12.8",
                                List.of(TestGpus.gpu(0)),
                                List.of(new DeviceScan.LostGpu(1, "00000001:00:00.0", "GPU_IS_LOST"))),
                        second(1));

        OfferedDevices offers = OfferedDevices.NONE.next(
                plan(inventory),
                inventory.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(), Map.of()),
                second(1));

        assertThat(offers.listed().get(uuid(1))).isNotNull().matches(offer -> !offer.healthy());
    }

    @Test
    void gpuReplacedAtItsPciAddressIsForgotten() {
        DeviceInventory inventory = DeviceInventory.restored(List.of(TestGpus.gpu(0)), second(0));
        Gpu other = TestGpus.gpu(1);
        Gpu inItsPlace = new Gpu(
                new Gpu.Identifiers(
                        other.uuid(),
                        other.identifiers().serial(),
                        0,
                        0,
                        TestGpus.gpu(0).pciBusId(),
                        other.identifiers().vbiosVersion()),
                new Gpu.Product(
                        other.model(),
                        other.product().shortModel(),
                        other.product().family(),
                        other.product().computeCapability(),
                        other.product().mode()),
                other.memoryBytes(),
                new Gpu.Topology(
                        other.topology().numaNode(),
                        List.of(),
                        other.topology().fabricClique(),
                        new Reading.Unavailable<>("not read")),
                new Gpu.Mig(other.mig().enabled(), List.of()),
                new Reading.Unavailable<>("not read"));

        DeviceInventory after =
                inventory.after(new DeviceScan.ScanSucceeded("570", "12.8", List.of(inItsPlace), List.of()), second(1));

        assertThat(after.gpus()).extracting(known -> known.gpu().uuid()).containsExactly(uuid(1));
    }

    @Test
    void verdictOfAnEarlierBootCountsOnlyWhereItSurvives() {
        var dies = new Overlay(3, "boot-1", false, Map.of(uuid(0), "Xid79"));
        var survives = new Overlay(3, "boot-1", true, Map.of(uuid(0), "Xid79"));

        assertThat(dies.inForce("boot-1").untrustedReason(uuid(0))).isEqualTo("Xid79");
        assertThat(dies.inForce("boot-2").untrustedReason(uuid(0))).isEmpty();
        assertThat(survives.inForce("boot-2").untrustedReason(uuid(0))).isEqualTo("Xid79");
    }

    @Test
    void devicesWithoutAnNodeThatCudaNeedsAreUnhealthyWithThatReason() {
        var without = new OfferConstraints(
                Overlay.TRUST, Set.of(), Map.of(), Map.of("/dev/nvidia-uvm", "load the kernel module"));

        OfferedDevices offers = OfferedDevices.NONE.next(plan(TWO), TWO.lastScan(), WELL, without, second(0));

        assertThat(offers.listed().values()).allSatisfy(offer -> {
            assertThat(offer.healthy()).isFalse();
            assertThat(offer.health().reason()).isEqualTo("/dev/nvidia-uvm is missing: load the kernel module");
        });
    }
}
