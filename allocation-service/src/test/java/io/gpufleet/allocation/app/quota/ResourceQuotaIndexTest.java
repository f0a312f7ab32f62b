package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex.ResourceLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** ResourceQuotas that limit GPUs in the namespaces of GpuQuotas. */
class ResourceQuotaIndexTest {
    private static final ResourceLimit TRAIN =
            new ResourceLimit("train", "compute", "requests.nvidia.com/gpu", "4", "1");
    private static final ResourceLimit SERVE = new ResourceLimit("serve", "compute", "limits.nvidia.com/gpu", "8", "");
    private static final ResourceLimit OTHER = new ResourceLimit("other", "compute", "limits.nvidia.com/gpu", "8", "");
    private static final Map<String, List<String>> COVERING =
            Map.of("train", List.of("a", "b"), "serve", List.of("b"), "other", List.of());

    private final List<ResourceLimit> limits = new ArrayList<>(List.of(TRAIN, SERVE, OTHER));
    private boolean unavailable;
    private int asked;
    private long now;
    private final ResourceQuotaIndex index = new ResourceQuotaIndex(
            this::limits, namespaces -> CompletableFuture.completedStage(COVERING), Runnable::run, () -> now);

    private List<ResourceLimit> limits() throws ApiServerException {
        asked++;
        if (unavailable) {
            throw new ApiServerException("403 forbidden");
        }
        return List.copyOf(limits);
    }

    private Map<String, List<ResourceLimit>> byQuota() {
        return index.byQuota().toCompletableFuture().join();
    }

    @Test
    void limitsOfTheNamespacesOfAQuotaAreItsLimits() {
        assertThat(byQuota()).isEqualTo(Map.of("a", List.of(TRAIN), "b", List.of(TRAIN, SERVE)));
    }

    @Test
    void readersAskTheApiServerOnceIn10Seconds() {
        byQuota();
        limits.clear();
        now += Duration.ofSeconds(10).toNanos() - 1;
        assertThat(byQuota()).isNotEmpty();
        assertThat(asked).isEqualTo(1);
        // When
        now++;
        // Then
        assertThat(byQuota()).isEmpty();
        assertThat(asked).isEqualTo(2);
    }

    @Test
    void quotasAreShownWithoutThemWhereTheApiServerDoesNotTell() {
        unavailable = true;
        assertThat(byQuota()).isEmpty();
    }
}
