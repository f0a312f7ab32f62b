package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex.ResourceLimit;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.testkit.TestKubernetes;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ResourceQuotas at an API server. */
@NullMarked
class KubernetesResourceQuotasIT {
    private static final GpuResources GPUS = GpuResources.NONE.with(
            List.of("nvidia.com/gpu", "nvidia.com/mig-*", "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"));

    @TempDir
    private Path dir;

    private FakeApiServer api;
    private KubernetesClient client;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        client = TestKubernetes.client(api.kubeconfig(dir.resolve("kubeconfig")));
    }

    @AfterEach
    void close() {
        client.close();
        api.close();
    }

    @Test
    void limitOfGpusIsShownUnderEachNameThatPeopleWrite() throws Exception {
        create(
                "requests.nvidia.com/gpu",
                "limits.nvidia.com/gpu",
                "requests.nvidia.com/mig-1g.10gb",
                "gpu.nvidia.com.deviceclass.resource.k8s.io/devices",
                "pods",
                "requests.cpu",
                "requests.amd.com/gpu",
                "requests.nvidia.com/gpu-memory");

        assertThat(limits())
                .extracting(ResourceLimit::resource)
                .containsExactlyInAnyOrder(
                        "requests.nvidia.com/gpu",
                        "limits.nvidia.com/gpu",
                        "requests.nvidia.com/mig-1g.10gb",
                        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices");
    }

    @Test
    void limitThatKubernetesDoesNotCountHasNothingUsed() throws Exception {
        ResourceQuota quota = create("requests.nvidia.com/gpu", "limits.nvidia.com/gpu");
        quota.setStatus(new ResourceQuotaBuilder()
                .withNewStatus()
                .withUsed(Map.of("requests.nvidia.com/gpu", new Quantity("3")))
                .endStatus()
                .build()
                .getStatus());
        client.resource(quota).updateStatus();

        assertThat(limits())
                .containsExactlyInAnyOrder(
                        new ResourceLimit("default", "compute", "requests.nvidia.com/gpu", "4", "3"),
                        new ResourceLimit("default", "compute", "limits.nvidia.com/gpu", "4", ""));
    }

    private List<ResourceLimit> limits() throws Exception {
        return new KubernetesResourceQuotas(client, () -> GPUS).gpuLimits();
    }

    private ResourceQuota create(String... resources) {
        var hard = new HashMap<String, Quantity>();
        List.of(resources).forEach(resource -> hard.put(resource, new Quantity("4")));
        return client.resource(new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withNamespace("default")
                        .withName("compute")
                        .endMetadata()
                        .withNewSpec()
                        .withHard(hard)
                        .endSpec()
                        .build())
                .create();
    }
}
