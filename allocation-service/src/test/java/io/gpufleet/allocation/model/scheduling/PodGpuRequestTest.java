package io.gpufleet.allocation.model.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs requested by a pod, and messages of invalid requests. */
class PodGpuRequestTest {
    private static final String GPU = "nvidia.com/gpu";
    private static final GpuResources KNOWN = GpuResources.NONE.with(List.of(GPU, "nvidia.com/mig-*"));

    private static ContainerResources container(
            String name, ContainerResources.ContainerType type, String limit, String request) {
        return new ContainerResources(
                name,
                type,
                request.isEmpty() ? Map.of() : Map.of(GPU, request),
                limit.isEmpty() ? Map.of() : Map.of(GPU, limit));
    }

    private static ContainerResources app(String limit) {
        return container("main", ContainerResources.ContainerType.APP, limit, "");
    }

    private static String invalidMessage(ContainerResources container) {
        return PodGpuRequest.of(List.of(container), KNOWN) instanceof PodGpuRequest.Invalid(String message)
                ? message
                : "none";
    }

    private static PodGpuRequest devices(int number) {
        return new PodGpuRequest.Devices(
                number == 0 ? new TreeMap<>() : new TreeMap<>(Map.of("nvidia.com/gpu", number)));
    }

    @Test
    void containersAddUpAndReuseGpusOfInitContainers() {
        assertThat(PodGpuRequest.of(
                        List.of(
                                container("load", ContainerResources.ContainerType.INIT, "3", "3"),
                                container("proxy", ContainerResources.ContainerType.SIDECAR, "1", "1"),
                                container("warm", ContainerResources.ContainerType.INIT, "4", "4"),
                                app("1"),
                                app("2")),
                        KNOWN))
                .isEqualTo(devices(5));
    }

    @Test
    void podWithoutGpuResourcesRequestsNone() {
        assertThat(PodGpuRequest.of(
                        List.of(new ContainerResources(
                                "main",
                                ContainerResources.ContainerType.APP,
                                Map.of("cpu", "500m"),
                                Map.of("memory", "1Gi"))),
                        KNOWN))
                .isEqualTo(devices(0));
    }

    @Test
    void migDeviceIsADeviceOfItsResource() {
        assertThat(PodGpuRequest.of(
                        List.of(new ContainerResources(
                                "main",
                                ContainerResources.ContainerType.APP,
                                Map.of(),
                                Map.of("nvidia.com/mig-1g.5gb", "2"))),
                        KNOWN))
                .isEqualTo(new PodGpuRequest.Devices(new TreeMap<>(Map.of("nvidia.com/mig-1g.5gb", 2))));
    }

    @Test
    void quantitiesAreParsedAsInKubernetes() {
        assertThat(PodGpuRequest.of(List.of(app("2000m")), KNOWN)).isEqualTo(devices(2));
        assertThat(PodGpuRequest.of(List.of(app("1e1")), KNOWN)).isEqualTo(devices(10));
    }

    @Test
    void fractionalRequestIsRejectedWithNextWholeNumber() {
        assertThat(invalidMessage(app("1.5")))
                .isEqualTo("container main: nvidia.com/gpu=1.5 is not a whole number of GPUs; ask for 2"
                        + " (for a part of a GPU request a MIG profile or a shared resource by its resource name)");
        assertThat(invalidMessage(app("500m"))).contains("ask for 1 ");
    }

    @Test
    void negativeRequestIsRejected() {
        assertThat(invalidMessage(app("-1")))
                .isEqualTo("container main: nvidia.com/gpu=-1 is negative; ask for 1 or more, or leave it out");
    }

    @Test
    void requestThatDiffersFromItsLimitIsRejected() {
        assertThat(invalidMessage(container("main", ContainerResources.ContainerType.APP, "2", "1")))
                .isEqualTo("container main: nvidia.com/gpu has limit 2 and request 1; for GPUs they must be equal,"
                        + " set both to 2 or leave the request out");
    }

    @Test
    void requestWithoutLimitIsRejected() {
        assertThat(invalidMessage(container("main", ContainerResources.ContainerType.APP, "", "2")))
                .contains("without a limit")
                .contains("set resources.limits[nvidia.com/gpu]=2");
    }

    @Test
    void unparsableQuantityIsRejected() {
        assertThat(invalidMessage(app("many"))).contains("nvidia.com/gpu=many is not a whole number");
    }

    /** 2^64 and a number beside it: the lowest 64 bits of the first are 0. */
    @ParameterizedTest
    @ValueSource(strings = {"18446744073709551.616e3", "18446744073709551.617e3", "9e99", "999999999999999999Ti"})
    void numberThatNoLongHoldsIsNotTakenForASmallOne(String limit) {
        assertThat(invalidMessage(app(limit))).isEqualTo("1000001 nvidia.com/gpu are more than any fleet has");
    }
}
