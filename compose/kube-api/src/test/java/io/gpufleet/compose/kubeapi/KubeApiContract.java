package io.gpufleet.compose.kubeapi;

import org.junit.jupiter.api.TestInstance;

/** What gpufleet expects of a Kubernetes API; it runs on the stand-in and, so that the stand-in does not lie, on a real one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
interface KubeApiContract
        extends ObjectsContract, PatchContract, ApplyContract, PodContract, ReviewContract, WebhookContract {
    @Override
    Ground ground();
}
