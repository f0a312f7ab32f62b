package io.gpufleet.allocation.model.quota;

import static io.gpufleet.allocation.model.quota.TestQuotas.A100;
import static io.gpufleet.allocation.model.quota.TestQuotas.H100;
import static io.gpufleet.allocation.model.quota.TestQuotas.apply;
import static io.gpufleet.allocation.model.quota.TestQuotas.enforced;
import static io.gpufleet.allocation.model.quota.TestQuotas.observed;
import static io.gpufleet.allocation.model.quota.TestQuotas.pod;
import static io.gpufleet.allocation.model.quota.TestQuotas.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits on parts of GPUs, devices, and kinds of devices. */
class QuotaLimitTest {
    private static final String SLICE = "nvidia.com/mig-1g.5gb";
    private static final String SHARE = "nvidia.com/gpu.shared";

    private static QuotaLimit devices(String product, String migProfile, String resource, int max) {
        return new QuotaLimit(new GpuSelector.Kinds("*", product, migProfile, resource), QuotaLimit.Unit.DEVICES, max);
    }

    private static String denial(QuotaState state, GpuPod pod) {
        return QuotaEvaluator.evaluate(state, new AdmissionRequest(pod, false), 1)
                                .decision()
                        instanceof AdmissionDecision.Denied(String message)
                ? message
                : "admitted";
    }

    @Test
    void migSlicesAndSharesCountAsTheirPartOfAGpu() {
        GpuQuota quota = enforced("q", new QuotaLimit("A100", 2));
        QuotaState state = apply(state(quota), observed(pod(1, SLICE, 7, A100)), observed(pod(2, SHARE, 2, A100)));
        assertThat(state.used(quota, quota.limits().getFirst())).isEqualTo(GpuAmount.of(3, 2));
        assertThat(denial(state, pod(3, SHARE, 2, A100))).isEqualTo("admitted");
        assertThat(denial(state, pod(3, SLICE, 4, A100)))
                .isEqualTo("GpuQuota q: limit 2 A100, used 1 1/2 (ml/pod-1 1, ml/pod-2 1/2), requested 4/7"
                        + " (4 nvidia.com/mig-1g.5gb): 3 would fit now; ask for 3, or have spec.limits of gpuquota/q"
                        + " raised");
    }

    @Test
    void devicesAreCountedAsPieces() {
        QuotaState state = apply(state(enforced("q", devices("", "1G.5GB", "", 3))), observed(pod(1, SLICE, 2, A100)));
        assertThat(denial(state, pod(2, SLICE, 2, A100)))
                .contains("limit 3 migProfile=1G.5GB devices, used 2 (ml/pod-1 2), requested 2: 1 would fit now");
        assertThat(denial(state, pod(2, "nvidia.com/mig-3g.20gb", 9, A100))).isEqualTo("admitted");
    }

    @Test
    void resourceAndProductAreLimited() {
        QuotaState state =
                state(enforced("q", devices("", "", SHARE, 1), devices("nvidia-a100", "", "nvidia.com/gpu", 2)));
        assertThat(denial(state, pod(1, SHARE, 2, A100)))
                .contains("limit 1 resource=nvidia.com/gpu.shared devices, used 0, requested 2");
        assertThat(denial(state, pod(1, 3, A100)))
                .contains("limit 2 product=nvidia-a100 resource=nvidia.com/gpu devices, used 0, requested 3");
        assertThat(denial(state, pod(1, 3, H100))).isEqualTo("admitted");
    }

    @Test
    void othersAreEveryKindThatNoLimitNames() {
        List<QuotaLimit> named = List.of(new QuotaLimit("a100", 4), new QuotaLimit("*", 9));
        QuotaState state = state(enforced("q", named.get(0), named.get(1), QuotaLimit.others(named, 0)));
        assertThat(denial(state, pod(1, 4, A100))).isEqualTo("admitted");
        assertThat(denial(state, pod(1, 1, H100)))
                .contains("limit 0 GPUs that no other limit names, used 0, requested 1: nothing would fit now");
    }

    @Test
    void shareOfAGpuThatSomeNodesOfferWholeCountsAsTheLargerUntilItIsBound() {
        GpuQuota quota = enforced("q", new QuotaLimit("*", 9));
        QuotaState state = apply(state(quota), observed(pod(1, SHARE, 2, Map.of())));
        assertThat(state.used(quota, quota.limits().getFirst())).isEqualTo(GpuAmount.of(2));
        // When
        apply(state, observed(TestQuotas.bound(pod(1, SHARE, 2, Map.of()), "a")));
        // Then
        assertThat(state.used(quota, quota.limits().getFirst())).isEqualTo(GpuAmount.of(1, 2));
    }

    @Test
    void limitThatCountsNoDeviceOfAnyNodeIsNamedInTheStatus() {
        GpuQuota quota = enforced(
                "q",
                new QuotaLimit("A1OO", 1),
                new QuotaLimit("h100", 1),
                devices("", "1g.5gb", "", 1),
                devices("", "1g.10gb", "", 1),
                devices("", "", "nvidia.com/gpu.shared", 1));
        assertThat(QuotaEvaluator.unknownLimits(state(quota), quota))
                .containsExactly("A1OO", "migProfile=1g.10gb devices");
        assertThat(QuotaEvaluator.warnings(state(quota), quota.limits()))
                .hasSize(2)
                .first()
                .asString()
                .startsWith("limit A1OO: no node of the cluster has or had a device that it counts");
    }

    @ParameterizedTest
    @CsvSource({
        "cloud.google.com/gke-accelerator, nvidia-tesla-a100, A100",
        "cloud.google.com/gke-accelerator, nvidia-h100-mega-80gb, H100",
        "cloud.google.com/gke-accelerator, nvidia-h200-141gb, H200",
        "karpenter.k8s.aws/instance-gpu-name, l40s, L40S",
        "eks.amazonaws.com/instance-gpu-name, a10g, A10G",
        "k8s.amazonaws.com/accelerator, nvidia-tesla-v100, V100",
        "karpenter.azure.com/sku-gpu-name, T4, T4",
        "node.kubernetes.io/instance-type, Standard_NC40ads_H100_v5, H100",
        "cloud.google.com/gke-accelerator, nvidia-x1, X1"
    })
    void poolAtZeroIsKnownByItsCloudLabel(String label, String value, String model) {
        QuotaState state = state(enforced("q", new QuotaLimit(model, 1)));
        assertThat(denial(state, pod(1, 1, Map.of(label, value)))).isEqualTo("admitted");
        assertThat(denial(state, pod(1, 2, Map.of(label, value)))).contains("limit 1 " + model);
    }

    @ParameterizedTest
    @CsvSource({
        "V100, p3.2xlarge p3.16xlarge p3dn.24xlarge",
        "A100, p4d.24xlarge p4de.24xlarge a2-highgpu-1g a2-highgpu-8g a2-ultragpu-4g a2-megagpu-16g",
        "H100, p5.4xlarge p5.48xlarge a3-highgpu-1g a3-highgpu-8g a3-highgpu-1g-nolssd a3-megagpu-8g a3-edgegpu-8g",
        "H200, p5e.48xlarge p5en.48xlarge a3-ultragpu-8g",
        "B200, p6-b200.48xlarge a4-highgpu-8g",
        "B300, p6-b300.48xlarge",
        "GB200, p6e-gb200.36xlarge a4x-highgpu-4g",
        "T4, g4dn.xlarge g4dn.12xlarge g4dn.metal",
        "T4G, g5g.16xlarge g5g.metal",
        "A10G, g5.xlarge g5.48xlarge",
        "L4, g6.xlarge g6.48xlarge g6f.2xlarge gr6.8xlarge gr6f.4xlarge g2-standard-4 g2-standard-96",
        "L40S, g6e.xlarge g6e.48xlarge",
        "RTX-PRO-6000-Blackwell, g7e.2xlarge g7e.48xlarge g4-standard-48 g4-standard-384"
    })
    void poolAtZeroIsKnownByItsInstanceType(String model, String types) {
        QuotaState state = state(enforced("q", new QuotaLimit(model, 1), new QuotaLimit("X1", 8)));
        for (String type : types.split(" ")) {
            Map<String, String> selector = Map.of("node.kubernetes.io/instance-type", type);
            assertThat(denial(state, pod(1, 1, selector))).as(type).isEqualTo("admitted");
            assertThat(denial(state, pod(1, 2, selector))).as(type).contains("limit 1 " + model);
            // The model is known: it counts on the limit of another one in no case
            assertThat(denial(state, pod(1, 2, selector))).as(type).doesNotContain("X1");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"m5.large", "g4ad.xlarge", "p5", "n1-standard-8", "a3-newgpu-8g", "ct5p-hightpu-4t", "x.y.z", "-"
            })
    void instanceTypeThatNamesNoGpuIsOfNoKnownModel(String type) {
        QuotaState state = state(enforced("q", new QuotaLimit("H100", 1)));

        assertThat(denial(state, pod(1, 1, Map.of("node.kubernetes.io/instance-type", type))))
                .contains("its GPU model is not known");
    }
}
