package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.preferred.Machines;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which GPU it is that does not answer. */
class DeviceBookTest {
    private static Look.Seen withLost(Look.LostGpu lost) {
        return new Look.Seen("570", "12.8", List.of(Some.gpu(0), Some.gpu(2)), List.of(lost));
    }

    private static final DeviceBook BEFORE =
            DeviceBook.remembering(List.of(Some.gpu(0), Some.gpu(1), Some.gpu(2)), second(0));

    @Test
    void aGpuLostBeforeTheStartIsKnownByItsIndex() {
        DeviceBook book = BEFORE.after(withLost(new Look.LostGpu(1, "", "GPU_IS_LOST")), second(1));

        assertThat(book.find(Some.uuid(1)))
                .contains(new KnownGpu(Some.gpu(1), new KnownGpu.Presence.Missing(0, "GPU_IS_LOST", true)));
    }

    private static Look.Seen twoAndOnTheBus(String... addresses) {
        return new Look.Seen(
                "570",
                "12.8",
                List.of(Some.gpu(0), Some.gpu(2)),
                List.of(new Look.LostGpu(1, Some.gpu(1).pciBusId(), "GPU_IS_LOST")),
                new Reading.Known<>(List.of(addresses)));
    }

    @Test
    void aGpuThatTheKernelHasNotEitherWasTakenOut() {
        assertThat(BEFORE.after(twoAndOnTheBus("0000:00:00.0", "0002:00:00.0"), second(1))
                        .find(Some.uuid(1)))
                .isEmpty();
        assertThat(BEFORE.after(twoAndOnTheBus("0000:00:00.0", "0001:00:00.0", "0002:00:00.0"), second(1))
                        .find(Some.uuid(1)))
                .isPresent();
    }

    @Test
    void aKernelThatDoesNotShowWhatAnswersIsNotBelieved() {
        assertThat(BEFORE.after(twoAndOnTheBus("0000:00:00.0"), second(1)).find(Some.uuid(1)))
                .isPresent();
    }

    @Test
    void whereNoGpuAnswersTheKernelIsBelievedOfThoseThatItOnceShowed() {
        Gpu shown = Machines.routed(Some.gpu(1), List.of("0000:00"));
        DeviceBook before = DeviceBook.remembering(List.of(Some.gpu(0), shown), second(0));

        DeviceBook after = before.after(
                new Look.Seen("570", "12.8", List.of(), List.of(), new Reading.Known<>(List.of())), second(1));

        assertThat(after.gpus()).extracting(KnownGpu::gpu).containsExactly(Some.gpu(0));
    }

    @Test
    void aLostGpuInAnotherPlaceIsNotIt() {
        DeviceBook book = BEFORE.after(withLost(new Look.LostGpu(1, "00000009:00:00.0", "GPU_IS_LOST")), second(1));

        assertThat(book.find(Some.uuid(1)))
                .contains(new KnownGpu(
                        Some.gpu(1), new KnownGpu.Presence.Missing(0, "not found by the driver any more", false)));
    }
}
