package io.gpufleet.nodedaemon.model.allocation;

import static io.gpufleet.nodedaemon.model.device.TestGpus.POLICY;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Settings change while pods hold devices: no held GPU is allocated again. */
class PriorAllocationsTest {
    private static final OpenFaults WELL = OpenFaults.restored(POLICY, List.of(), second(0));
    private static final DeviceInventory ONE =
            DeviceInventory.restored(List.of(), second(0)).after(scanOf(1), second(0));
    private static final PluginSettings WHOLE = PluginSettings.DEFAULT;
    private static final PluginSettings HALVES = shared(2, false);
    private static final PluginSettings RENAMED = shared(2, true);

    private OfferedDevices offers = OfferedDevices.NONE;

    private static PluginSettings shared(int replicas, boolean rename) {
        var resource = new SharedResource(ResourcePlan.GPU, "", new DeviceSelector.All(), replicas);
        return new PluginSettings(
                MigStrategy.NONE,
                new SharingSettings(SharingMode.TIME_SLICING, rename, false, List.of(resource)),
                ReplicaAllocationPolicy.DISTRIBUTED,
                AllocateSettings.DEFAULT,
                XidOverrides.NONE);
    }

    private void update(PluginSettings settings, double at, String... held) {
        offers = offers.next(
                ResourcePlan.of(ONE.gpus(), settings).devices(),
                ONE.lastScan(),
                WELL,
                new OfferConstraints(Overlay.TRUST, Set.of(held), Map.of()),
                second(at));
    }

    private List<String> healthy() {
        return offers.listed().values().stream()
                .filter(OfferedDevice::healthy)
                .map(offer -> offer.resource() + " " + offer.id())
                .toList();
    }

    private List<String> unhealthy() {
        return offers.listed().values().stream()
                .filter(offer -> !offer.healthy())
                .map(offer -> offer.resource() + " " + offer.id())
                .toList();
    }

    private static String gpu(String id) {
        return "nvidia.com/gpu " + id;
    }

    @Test
    void freeGpuIsSharedAtOnceAndItsOldIdLeavesAfterAMinute() {
        update(WHOLE, 0);

        update(HALVES, 10);
        assertThat(healthy()).containsExactly(gpu(uuid(0) + "::0"), gpu(uuid(0) + "::1"));
        assertThat(unhealthy()).containsExactly(gpu(uuid(0)));
        update(HALVES, 69);
        assertThat(unhealthy()).containsExactly(gpu(uuid(0)));
        update(HALVES, 70);
        assertThat(unhealthy()).isEmpty();
    }

    @Test
    void wholeHeldGpuIsNotSharedBeforeItsHolderEnds() {
        update(WHOLE, 0, uuid(0));

        update(HALVES, 10, uuid(0));
        update(HALVES, 300, uuid(0));
        assertThat(healthy()).isEmpty();
        assertThat(offers.listed().values())
                .extracting(device -> device.health().reason())
                .anySatisfy(reason -> assertThat(reason).contains("held as " + uuid(0), "when its holder has ended"));

        update(HALVES, 301);
        assertThat(healthy()).hasSize(2);
        assertThat(offers.listed()).hasSize(2);
    }

    @Test
    void sharedGpuIsNotOfferedWholeBeforeItsHoldersEnd() {
        update(HALVES, 0, uuid(0) + "::1");

        update(WHOLE, 10, uuid(0) + "::1");
        update(WHOLE, 300, uuid(0) + "::1");
        assertThat(healthy()).isEmpty();

        update(WHOLE, 301);
        assertThat(healthy()).containsExactly(gpu(uuid(0)));
    }

    @Test
    void changedReplicaCountKeepsHeldDevices() {
        update(HALVES, 0, uuid(0) + "::1");

        update(shared(4, false), 10, uuid(0) + "::1");
        assertThat(healthy()).hasSize(4);
        update(HALVES, 20, uuid(0) + "::3");
        assertThat(healthy()).hasSize(2);
        assertThat(unhealthy()).containsExactly(gpu(uuid(0) + "::2"), gpu(uuid(0) + "::3"));
    }

    @Test
    void renamedReplicasLeaveTheOldResourceBeforeTheNewOneOffersThem() {
        update(HALVES, 0, uuid(0) + "::0");

        // Both lists have the ids, Unhealthy: no id is Healthy twice
        update(RENAMED, 10, uuid(0) + "::0");
        assertThat(offers.listed()).hasSize(4);
        assertThat(healthy()).isEmpty();

        // The free replica leaves the old resource after a minute, the held one when it is released
        update(RENAMED, 70, uuid(0) + "::0");
        update(RENAMED, 71, uuid(0) + "::0");
        assertThat(healthy()).containsExactly("nvidia.com/gpu.shared " + uuid(0) + "::1");
        update(RENAMED, 80);
        update(RENAMED, 81);
        assertThat(healthy()).hasSize(2);
        assertThat(offers.listed()).hasSize(2);
    }

    @Test
    void revertedSettingsRestoreTheOldIds() {
        update(HALVES, 0);
        update(RENAMED, 10);
        update(HALVES, 20);
        update(HALVES, 81);
        update(HALVES, 82);

        assertThat(healthy()).containsExactly(gpu(uuid(0) + "::0"), gpu(uuid(0) + "::1"));
        assertThat(offers.listed()).hasSize(2);
    }

    @Test
    void restartWithOtherSettingsRespectsEarlierHolders() {
        update(HALVES, 0, uuid(0));

        assertThat(healthy()).isEmpty();
    }
}
