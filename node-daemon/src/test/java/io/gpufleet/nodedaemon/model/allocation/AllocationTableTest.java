package io.gpufleet.nodedaemon.model.allocation;

import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.HOST;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.LIST;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.VISIBLE;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.allocate;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.settingsWith;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.table;
import static io.gpufleet.nodedaemon.model.allocation.TestAllocations.withStrategies;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.RefusalCode;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Refused;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.ImexMode;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Refusals of Allocate and their messages. */
class AllocationTableTest {
    private static AllocationResult ask(String... ids) {
        return table(withStrategies(DeviceListStrategy.ENVVAR), HOST, LIST).allocate(List.of(List.of(ids)));
    }

    private static void refused(AllocationResult answer, RefusalCode kind, String... results) {
        assertThat(answer).isInstanceOfSatisfying(Refused.class, refused -> {
            assertThat(refused.code()).isEqualTo(kind);
            assertThat(refused.message()).contains(results).doesNotContain("\n");
        });
    }

    @Test
    void missingRequiredImexChannelIsRefusedWithARemedy() {
        AllocateSettings settings = settingsWith(
                withStrategies(DeviceListStrategy.ENVVAR), DeviceIdStrategy.UUID, Set.of(), ImexMode.REQUIRED);

        refused(
                table(settings, HostDeviceNodes.NONE, LIST).allocate(List.of(List.of(uuid(0)))),
                RefusalCode.FAILED_PRECONDITION,
                uuid(0),
                "IMEX channel 0 is required",
                "NVreg_CreateImexChannel0=1");
    }

    @Test
    void unwritableSpecIsRefusedWithItsReason() {
        HostDeviceNodes host = HOST.with(new CdiNames(Set.of(), "/var/run/cdi is read-only; mount it writable"));

        refused(
                table(withStrategies(DeviceListStrategy.CDI_CRI), host, LIST).allocate(List.of(List.of(uuid(0)))),
                RefusalCode.FAILED_PRECONDITION,
                uuid(0),
                "/var/run/cdi is read-only; mount it writable");
        assertThat(allocate(withStrategies(DeviceListStrategy.ENVVAR), host, LIST, uuid(0))
                        .environment())
                .containsKey(VISIBLE);
    }

    @Test
    void deviceMissingFromTheSpecIsRefused() {
        HostDeviceNodes host = HOST.with(new CdiNames(Set.of(uuid(1)), ""));

        refused(
                table(withStrategies(DeviceListStrategy.CDI_ANNOTATIONS), host, LIST)
                        .allocate(List.of(List.of(uuid(0)))),
                RefusalCode.FAILED_PRECONDITION,
                uuid(0),
                "CDI spec",
                "delete the pod");
    }

    @Test
    void unknownDeviceIsNamedWithARemedy() {
        refused(ask("GPU-x"), RefusalCode.INVALID_ARGUMENT, "unknown device 'GPU-x'", "delete the pod");
    }

    @Test
    void unhealthyDeviceIsNamedWithItsReason() {
        refused(ask(uuid(2)), RefusalCode.FAILED_PRECONDITION, uuid(2), "unhealthy", "xid-79", "delete the pod");
    }

    @Test
    void deviceRequestedTwiceIsNamed() {
        refused(ask(uuid(0), uuid(0)), RefusalCode.INVALID_ARGUMENT, uuid(0), "twice");
    }

    @Test
    void emptyRequestIsRefused() {
        refused(ask(), RefusalCode.INVALID_ARGUMENT, "at least one");
        refused(
                table(withStrategies(DeviceListStrategy.ENVVAR), HOST, LIST).allocate(List.of()),
                RefusalCode.INVALID_ARGUMENT,
                "at least one");
    }

    @Test
    void oneBadContainerFailsTheWholeCall() {
        var answer = table(withStrategies(DeviceListStrategy.ENVVAR), HOST, LIST)
                .allocate(List.of(List.of(uuid(0)), List.of("GPU-x")));

        refused(answer, RefusalCode.INVALID_ARGUMENT, "GPU-x");
    }

    @Test
    void oneDeviceForTwoContainersIsRefused() {
        var answer = table(withStrategies(DeviceListStrategy.ENVVAR), HOST, LIST)
                .allocate(List.of(List.of(uuid(0)), List.of(uuid(0))));

        refused(answer, RefusalCode.INVALID_ARGUMENT, uuid(0), "twice");
    }
}
