package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Granted;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refusal;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refused;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AllocatorTest {
    private static final DeviceList LIST = new DeviceList(
            1, List.of(Some.offer(0, true, ""), Some.offer(1, true, ""), Some.offer(2, false, "xid-79")));

    private static Allocator allocator(Strategy... strategies) {
        return allocator("/home/kubernetes/bin/nvidia", strategies);
    }

    private static Allocator allocator(String driverRoot, Strategy... strategies) {
        return new Allocator(
                PluginSettings.STANDARD.with(
                        AllocateSettings.STANDARD.with(Set.of(strategies)).at(driverRoot)),
                HostNodes.of(List.of("/dev/nvidiactl")));
    }

    private static AllocationAnswer ask(String... ids) {
        return allocator(Strategy.ENVVAR).answer(LIST, List.of(List.of(ids)));
    }

    @Test
    void envvarNamesTheGpusInTheOrderOfTheList() {
        assertThat(ask(uuid(1), uuid(0)))
                .isInstanceOfSatisfying(
                        Granted.class,
                        granted -> assertThat(granted.containers())
                                .singleElement()
                                .satisfies(grant -> {
                                    assertThat(grant.environment())
                                            .containsOnly(java.util.Map.entry(
                                                    "NVIDIA_VISIBLE_DEVICES", uuid(0) + "," + uuid(1)));
                                    assertThat(grant.mounts()).isEmpty();
                                    assertThat(grant.deviceNodes()).isEmpty();
                                }));
    }

    @Test
    void hostMountsGiveDriverDirectoryAndDeviceNodesAndNoPath() {
        var answer = allocator(Strategy.HOST_MOUNTS).answer(LIST, List.of(List.of(uuid(1))));

        assertThat(answer)
                .isInstanceOfSatisfying(
                        Granted.class,
                        granted -> assertThat(granted.containers())
                                .singleElement()
                                .satisfies(grant -> {
                                    assertThat(grant.environment()).isEmpty();
                                    assertThat(grant.mounts())
                                            .containsExactly(
                                                    new Mount("/home/kubernetes/bin/nvidia", "/usr/local/nvidia"));
                                    assertThat(grant.deviceNodes())
                                            .containsExactly(
                                                    new DeviceNode("/dev/nvidiactl", "rw"),
                                                    new DeviceNode("/dev/nvidia1", "rw"));
                                }));
    }

    @Test
    void strategiesAddUp() {
        var answer = allocator(Strategy.ENVVAR, Strategy.HOST_MOUNTS).answer(LIST, List.of(List.of(uuid(0))));

        assertThat(answer)
                .isInstanceOfSatisfying(
                        Granted.class,
                        granted -> assertThat(granted.containers())
                                .singleElement()
                                .satisfies(grant -> {
                                    assertThat(grant.environment()).containsKey("NVIDIA_VISIBLE_DEVICES");
                                    assertThat(grant.deviceNodes()).hasSize(2);
                                }));
    }

    @Test
    void rootAsDriverDirectoryIsNotMounted() {
        var allocator = allocator("/", Strategy.HOST_MOUNTS);

        assertThat(allocator.answer(LIST, List.of(List.of(uuid(0)))))
                .isInstanceOfSatisfying(
                        Granted.class,
                        granted -> assertThat(granted.containers())
                                .allMatch(grant -> grant.mounts().isEmpty()));
    }

    private static void refused(AllocationAnswer answer, Refusal kind, String... words) {
        assertThat(answer).isInstanceOfSatisfying(Refused.class, refused -> {
            assertThat(refused.kind()).isEqualTo(kind);
            assertThat(refused.message()).contains(words).doesNotContain("\n");
        });
    }

    @Test
    void unknownDeviceIsNamedWithARemedy() {
        refused(ask("GPU-x"), Refusal.INVALID_ARGUMENT, "unknown device 'GPU-x'", "delete the pod");
    }

    @Test
    void unhealthyDeviceIsNamedWithItsReason() {
        refused(ask(uuid(2)), Refusal.FAILED_PRECONDITION, uuid(2), "unhealthy", "xid-79", "delete the pod");
    }

    @Test
    void deviceAskedForTwiceIsNamed() {
        refused(ask(uuid(0), uuid(0)), Refusal.INVALID_ARGUMENT, uuid(0), "twice");
    }

    @Test
    void noDeviceAtAllIsRefused() {
        refused(ask(), Refusal.INVALID_ARGUMENT, "at least one");
        refused(allocator(Strategy.ENVVAR).answer(LIST, List.of()), Refusal.INVALID_ARGUMENT, "at least one");
    }

    @Test
    void oneBadContainerFailsTheWholeCall() {
        var answer = allocator(Strategy.ENVVAR).answer(LIST, List.of(List.of(uuid(0)), List.of("GPU-x")));

        refused(answer, Refusal.INVALID_ARGUMENT, "GPU-x");
    }

    @Test
    void oneDeviceForTwoContainersIsRefused() {
        var answer = allocator(Strategy.ENVVAR).answer(LIST, List.of(List.of(uuid(0)), List.of(uuid(0))));

        refused(answer, Refusal.INVALID_ARGUMENT, uuid(0), "twice");
    }
}
