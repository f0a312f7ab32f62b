package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Asked.HOST;
import static io.gpufleet.nodedaemon.model.Asked.LIST;
import static io.gpufleet.nodedaemon.model.Asked.VISIBLE;
import static io.gpufleet.nodedaemon.model.Asked.by;
import static io.gpufleet.nodedaemon.model.Asked.full;
import static io.gpufleet.nodedaemon.model.Asked.grant;
import static io.gpufleet.nodedaemon.model.Asked.table;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.AllocationAnswer.Refusal;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refused;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Imex;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What Allocate refuses, and what it says then. */
class AllocationRefusedTest {
    private static AllocationAnswer ask(String... ids) {
        return table(by(Strategy.ENVVAR), HOST, LIST).answer(List.of(List.of(ids)));
    }

    private static void refused(AllocationAnswer answer, Refusal kind, String... words) {
        assertThat(answer).isInstanceOfSatisfying(Refused.class, refused -> {
            assertThat(refused.kind()).isEqualTo(kind);
            assertThat(refused.message()).contains(words).doesNotContain("\n");
        });
    }

    @Test
    void requiredImexChannelThatIsNotThereIsRefusedWithARemedy() {
        AllocateSettings settings = full(by(Strategy.ENVVAR), IdNames.UUID, Set.of(), Imex.REQUIRED);

        refused(
                table(settings, HostNodes.NONE, LIST).answer(List.of(List.of(uuid(0)))),
                Refusal.FAILED_PRECONDITION,
                uuid(0),
                "IMEX channel 0 is required",
                "NVreg_CreateImexChannel0=1");
    }

    @Test
    void specThatCanNotBeWrittenIsRefusedWithItsReason() {
        HostNodes host = HOST.with(new CdiNames(Set.of(), "/var/run/cdi is read-only; mount it writable"));

        refused(
                table(by(Strategy.CDI_CRI), host, LIST).answer(List.of(List.of(uuid(0)))),
                Refusal.FAILED_PRECONDITION,
                uuid(0),
                "/var/run/cdi is read-only; mount it writable");
        assertThat(grant(by(Strategy.ENVVAR), host, LIST, uuid(0)).environment())
                .containsKey(VISIBLE);
    }

    @Test
    void deviceThatTheSpecDoesNotHaveIsRefused() {
        HostNodes host = HOST.with(new CdiNames(Set.of(uuid(1)), ""));

        refused(
                table(by(Strategy.CDI_ANNOTATIONS), host, LIST).answer(List.of(List.of(uuid(0)))),
                Refusal.FAILED_PRECONDITION,
                uuid(0),
                "CDI spec",
                "delete the pod");
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
        refused(table(by(Strategy.ENVVAR), HOST, LIST).answer(List.of()), Refusal.INVALID_ARGUMENT, "at least one");
    }

    @Test
    void oneBadContainerFailsTheWholeCall() {
        var answer = table(by(Strategy.ENVVAR), HOST, LIST).answer(List.of(List.of(uuid(0)), List.of("GPU-x")));

        refused(answer, Refusal.INVALID_ARGUMENT, "GPU-x");
    }

    @Test
    void oneDeviceForTwoContainersIsRefused() {
        var answer = table(by(Strategy.ENVVAR), HOST, LIST).answer(List.of(List.of(uuid(0)), List.of(uuid(0))));

        refused(answer, Refusal.INVALID_ARGUMENT, uuid(0), "twice");
    }
}
