package io.gpufleet.allocation.model.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How many GPUs a pod asks for, and what a question of the wrong shape is told. */
class GpuAskTest {
    private static ContainerAsk container(String name, ContainerAsk.Kind kind, String limit, String request) {
        return new ContainerAsk(
                name,
                kind,
                request.isEmpty() ? Map.of() : Map.of(GpuResource.GPU, request),
                limit.isEmpty() ? Map.of() : Map.of(GpuResource.GPU, limit));
    }

    private static ContainerAsk app(String limit) {
        return container("main", ContainerAsk.Kind.APP, limit, "");
    }

    private static String mistake(ContainerAsk container) {
        return GpuAsk.of(List.of(container)) instanceof GpuAsk.Mistake(String line) ? line : "none";
    }

    @Test
    void containersAddUpAndInitContainersGiveBack() {
        assertThat(GpuAsk.of(List.of(
                        container("load", ContainerAsk.Kind.INIT, "3", "3"),
                        container("proxy", ContainerAsk.Kind.SIDECAR, "1", "1"),
                        container("warm", ContainerAsk.Kind.INIT, "4", "4"),
                        app("1"),
                        app("2"))))
                .isEqualTo(new GpuAsk.Count(5));
    }

    @Test
    void aPodWithoutGpusAsksForNone() {
        assertThat(GpuAsk.of(List.of(new ContainerAsk(
                        "main", ContainerAsk.Kind.APP, Map.of("cpu", "500m"), Map.of("memory", "1Gi")))))
                .isEqualTo(new GpuAsk.Count(0));
    }

    @Test
    void aMigDeviceCountsAsOne() {
        assertThat(GpuAsk.of(List.of(new ContainerAsk(
                        "main", ContainerAsk.Kind.APP, Map.of(), Map.of("nvidia.com/mig-1g.5gb", "2")))))
                .isEqualTo(new GpuAsk.Count(2));
    }

    @Test
    void quantitiesAreReadAsKubernetesWritesThem() {
        assertThat(GpuAsk.of(List.of(app("2000m")))).isEqualTo(new GpuAsk.Count(2));
        assertThat(GpuAsk.of(List.of(app("1e1")))).isEqualTo(new GpuAsk.Count(10));
    }

    @Test
    void halfAGpuIsAnsweredWithTheWholeNumberAbove() {
        assertThat(mistake(app("1.5")))
                .isEqualTo("container main: nvidia.com/gpu=1.5 is not a whole number of GPUs; ask for 2"
                        + " (a part of a GPU is a MIG profile or a shared resource, by name)");
        assertThat(mistake(app("500m"))).contains("ask for 1 ");
    }

    @Test
    void aNegativeNumberIsAnsweredWithTheFix() {
        assertThat(mistake(app("-1")))
                .isEqualTo("container main: nvidia.com/gpu=-1 is negative; ask for 1 or more, or leave it out");
    }

    @Test
    void aRequestThatDiffersFromItsLimitIsAnsweredWithTheFix() {
        assertThat(mistake(container("main", ContainerAsk.Kind.APP, "2", "1")))
                .isEqualTo("container main: nvidia.com/gpu has limit 2 and request 1; for GPUs they must be equal,"
                        + " set both to 2 or leave the request out");
    }

    @Test
    void aRequestWithoutALimitIsAnsweredWithTheFix() {
        assertThat(mistake(container("main", ContainerAsk.Kind.APP, "", "2")))
                .contains("without a limit")
                .contains("set resources.limits[nvidia.com/gpu]=2");
    }

    @Test
    void nonsenseIsNoNumber() {
        assertThat(mistake(app("many"))).contains("nvidia.com/gpu=many is not a whole number");
    }
}
