package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.gpu;
import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.CdiNames;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PreparedLooksTest {
    private static final SettingsChoice STANDARD = SettingsChoice.always(PluginSettings.STANDARD, "test");
    private static final SettingsChoice CDI = SettingsChoice.always(
            PluginSettings.STANDARD.with(AllocateSettings.STANDARD.with(Set.of(Strategy.CDI_CRI))), "test");

    private final List<String> order = new ArrayList<>();
    private final List<HostNodes> found = new ArrayList<>();
    private List<String> described = List.of();
    private HostNodes host = HostNodes.of(List.of());
    private Look next = seen(2);

    private final class Source implements DeviceSource {
        @Override
        public String name() {
            return "scripted";
        }

        @Override
        public Look look() {
            return next;
        }

        @Override
        public List<Sign> await(Duration atMost) {
            return List.of();
        }

        @Override
        public List<Vitals> vitals() {
            return List.of();
        }

        @Override
        public void release() {}

        @Override
        public void close() {}
    }

    private PreparedLooks looks(SettingsChoice choice) {
        return new PreparedLooks(
                new Source(),
                _ -> host,
                devices -> {
                    order.add("described");
                    described = devices.gpus().stream().map(Gpu::uuid).toList();
                    return new CdiNames(Set.copyOf(described), "");
                },
                choice,
                input -> {
                    order.add("told");
                    found.add(((Input.HostNodesFound) input).nodes());
                });
    }

    @Test
    void devicesAreDescribedBeforeAnybodyHearsOfThem() {
        Look look = looks(CDI).look();

        assertThat(look).isEqualTo(next);
        assertThat(order).containsExactly("described", "told");
        assertThat(found.getLast().cdi().written()).containsExactlyInAnyOrder(uuid(0), uuid(1));
    }

    @Test
    void nothingIsDescribedWhereNobodyResolvesIt() {
        looks(STANDARD).look();

        assertThat(order).isEmpty();
    }

    @Test
    void hostThatDidNotChangeIsNotToldAgain() {
        var looks = looks(CDI);
        looks.look();
        looks.look();

        assertThat(found).hasSize(1);
    }

    @Test
    void nodeThatAppearsIsToldWithTheNextPoll() {
        var looks = looks(STANDARD);
        looks.look();

        host = HostNodes.of(List.of("/dev/nvidiactl"));
        looks.vitals();

        assertThat(found).extracting(HostNodes::control).containsExactly(List.of("/dev/nvidiactl"));
    }

    @Test
    void gpuThatIsLostStaysDescribedAndOneThatIsRemovedDoesNot() {
        var looks = looks(CDI);
        looks.look();

        next = new Look.Seen(
                "570.124.06", "12.8", List.of(gpu(0)), List.of(new Look.LostGpu(1, gpu(1).pciBusId(), "GPU_IS_LOST")));
        looks.look();
        assertThat(described).containsExactly(uuid(0), uuid(1));

        next = seen(1);
        looks.look();
        assertThat(described).containsExactly(uuid(0));
    }

    @Test
    void driverThatDoesNotAnswerLeavesTheDescriptionsAlone() {
        var looks = looks(CDI);
        looks.look();

        next = new Look.Blind(Look.DriverTrouble.NOT_LOADED, "reload");
        looks.look();

        assertThat(order).containsExactly("described", "told");
    }

    @Test
    void settingsThatNeedDescriptionsGetThemAtOnce() {
        var looks = looks(STANDARD);
        looks.look();

        looks.settle(CDI);

        assertThat(order).containsExactly("described", "told");
    }
}
