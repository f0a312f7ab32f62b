package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaState;
import io.gpufleet.allocation.model.quota.TestQuotas;
import java.lang.ref.Reference;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory for pods with GPUs: 100,000 of them have to fit into the heap of 307 MiB of a container of 512 MiB. */
class PodMemoryTest {
    private static final int PODS = 20_000;
    private static final int BYTES = 1_800;
    private static final int LISTED_BYTES = 200;

    /** A small pod as an API server sends it, with what a scheduler, a kubelet and a field manager leave on it. */
    static final String POD = """
            {"metadata":{"name":"train-#","generateName":"train-","namespace":"ml","uid":"7d5e3f10-0000-4000-8000-#",
            "resourceVersion":"#","creationTimestamp":"2026-11-20T00:00:00Z","labels":{"app":"train","team":"vision",
            "job-name":"train"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"j",
            "controller":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update",
            "apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:app":{}}}}}]},
            "spec":{"nodeName":"a","nodeSelector":{"gpu":"a100"},"volumes":[{"name":"token","projected":{"sources":
            [{"serviceAccountToken":{"path":"token"}}]}}],"containers":[{"name":"main","image":"registry/train:1",
            "command":["python","train.py"],"env":[{"name":"RANK","value":"#"}],"resources":{"limits":{"cpu":"8",
            "memory":"64Gi","nvidia.com/gpu":"1"},"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}}}],
            "tolerations":[{"key":"nvidia.com/gpu","operator":"Exists"}]},"status":{"phase":"Running","conditions":
            [{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main","ready":true,"restartCount":0,
            "image":"registry/train:1","imageID":"x","state":{"running":{"startedAt":"2026-11-20T00:00:00Z"}}}]}}
            """;

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    private Pod pod(int number) {
        return serialization.unmarshal(POD.replace("#", "%012d".formatted(number)), Pod.class);
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void podTakesLittleInTheStoreOfTheInformerAndInTheCounters() {
        // Given
        var state = new QuotaState();
        TestQuotas.cluster().forEach(state::apply);
        state.apply(new QuotaEvent.QuotaObserved(PodListProgram.QUOTA));
        var store = new ReducedPods(serialization);
        store.put("first", pod(PODS));
        long before = used();
        // When
        for (int number = 0; number < PODS; number++) {
            Pod pod = pod(number);
            store.put(store.getKey(pod), pod);
            state.apply(new QuotaEvent.PodObserved(PodMapper.gpuPod(pod), 0));
        }
        // Then
        assertThat((used() - before) / PODS).isLessThan(BYTES);
        assertThat(state.pods()).hasSize(PODS);
        assertThat(store.size()).isEqualTo(PODS + 1);
    }

    @Test
    void listOfAllPodsThatTheInformerComparesTakesLittle() {
        var store = new ReducedPods(serialization);
        for (int number = 0; number < PODS; number++) {
            Pod pod = pod(number);
            store.put(store.getKey(pod), pod);
        }
        long before = used();
        // When, as the informer does after each list
        List<Pod> all = store.values().toList();
        assertThat(all.stream().map(store::getKey)).doesNotHaveDuplicates().hasSize(PODS);
        // Then
        assertThat((used() - before) / PODS).isLessThan(LISTED_BYTES);
        Reference.reachabilityFence(all);
    }
}
