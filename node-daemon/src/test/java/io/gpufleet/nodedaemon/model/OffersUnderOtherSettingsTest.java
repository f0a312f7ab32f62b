package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.POLICY;
import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Pick;
import io.gpufleet.nodedaemon.model.settings.SharePlan.SharedResource;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Settings change while pods hold devices: nobody's GPU is given to somebody else. */
class OffersUnderOtherSettingsTest {
    private static final HealthBook WELL = HealthBook.inheriting(POLICY, List.of(), second(0));
    private static final DeviceBook ONE =
            DeviceBook.remembering(List.of(), second(0)).after(seen(1), second(0));
    private static final PluginSettings WHOLE = PluginSettings.STANDARD;
    private static final PluginSettings HALVES = shared(2, false);
    private static final PluginSettings RENAMED = shared(2, true);

    private Offers offers = Offers.NONE;

    private static PluginSettings shared(int replicas, boolean rename) {
        var resource = new SharedResource(ResourcePlan.GPU, "", new Pick.All(), replicas);
        return new PluginSettings(
                MigStrategy.NONE,
                new SharePlan(Means.TIME_SLICING, rename, false, List.of(resource)),
                ReplicaOrder.DISTRIBUTED,
                AllocateSettings.STANDARD,
                XidOverrides.NONE);
    }

    private void tell(PluginSettings settings, double at, String... held) {
        offers = offers.next(
                ResourcePlan.of(ONE.gpus(), settings).devices(),
                ONE.lastLook(),
                WELL,
                new Surroundings(Overlay.TRUST, Set.of(held), Map.of()),
                second(at));
    }

    private List<String> healthy() {
        return offers.listed().values().stream()
                .filter(Offer::healthy)
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
        tell(WHOLE, 0);

        tell(HALVES, 10);
        assertThat(healthy()).containsExactly(gpu(uuid(0) + "::0"), gpu(uuid(0) + "::1"));
        assertThat(unhealthy()).containsExactly(gpu(uuid(0)));
        tell(HALVES, 69);
        assertThat(unhealthy()).containsExactly(gpu(uuid(0)));
        tell(HALVES, 70);
        assertThat(unhealthy()).isEmpty();
    }

    @Test
    void gpuThatIsHeldWholeIsNotSharedBeforeItsHolderEnds() {
        tell(WHOLE, 0, uuid(0));

        tell(HALVES, 10, uuid(0));
        tell(HALVES, 300, uuid(0));
        assertThat(healthy()).isEmpty();
        assertThat(offers.listed().values())
                .extracting(Offer::reason)
                .anySatisfy(reason -> assertThat(reason).contains("held as " + uuid(0), "when its holder has ended"));

        tell(HALVES, 301);
        assertThat(healthy()).hasSize(2);
        assertThat(offers.listed()).hasSize(2);
    }

    @Test
    void sharedGpuIsNotGivenWholeBeforeItsHoldersEnd() {
        tell(HALVES, 0, uuid(0) + "::1");

        tell(WHOLE, 10, uuid(0) + "::1");
        tell(WHOLE, 300, uuid(0) + "::1");
        assertThat(healthy()).isEmpty();

        tell(WHOLE, 301);
        assertThat(healthy()).containsExactly(gpu(uuid(0)));
    }

    @Test
    void otherNumberOfSharesDisturbsNobody() {
        tell(HALVES, 0, uuid(0) + "::1");

        tell(shared(4, false), 10, uuid(0) + "::1");
        assertThat(healthy()).hasSize(4);
        tell(HALVES, 20, uuid(0) + "::3");
        assertThat(healthy()).hasSize(2);
        assertThat(unhealthy()).containsExactly(gpu(uuid(0) + "::2"), gpu(uuid(0) + "::3"));
    }

    @Test
    void renamedSharesLeaveTheOldResourceBeforeTheyAreGivenInTheNew() {
        tell(HALVES, 0, uuid(0) + "::0");

        // Both lists have the ids, Unhealthy: a kubelet would find no id twice among the healthy ones
        tell(RENAMED, 10, uuid(0) + "::0");
        assertThat(offers.listed()).hasSize(4);
        assertThat(healthy()).isEmpty();

        // The free share has left the old resource after a minute, the held one when it is free
        tell(RENAMED, 70, uuid(0) + "::0");
        tell(RENAMED, 71, uuid(0) + "::0");
        assertThat(healthy()).containsExactly("nvidia.com/gpu.shared " + uuid(0) + "::1");
        tell(RENAMED, 80);
        tell(RENAMED, 81);
        assertThat(healthy()).hasSize(2);
        assertThat(offers.listed()).hasSize(2);
    }

    @Test
    void settingsTakenBackInTimeGiveTheOldIdsBack() {
        tell(HALVES, 0);
        tell(RENAMED, 10);
        tell(HALVES, 20);
        tell(HALVES, 81);
        tell(HALVES, 82);

        assertThat(healthy()).containsExactly(gpu(uuid(0) + "::0"), gpu(uuid(0) + "::1"));
        assertThat(offers.listed()).hasSize(2);
    }

    @Test
    void startUnderOtherSettingsRespectsHoldersOfBefore() {
        tell(HALVES, 0, uuid(0));

        assertThat(healthy()).isEmpty();
    }
}
